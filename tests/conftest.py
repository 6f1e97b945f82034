"""How property tests run: the same examples every time, and no deadline, since a busy machine breaks no rule."""

from hypothesis import settings

settings.register_profile("loopworth", deadline=None, derandomize=True)
settings.load_profile("loopworth")
