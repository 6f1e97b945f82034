"""Comparisons on several hosts: a submitter cuts the runs into chunks, workers make them, a database joins both.

    chunk         some runs of a comparison, as the queue holds them
    width         how many runs may be under way at once, by what their endpoints take
    submitter     sends the chunks of a comparison, and takes what comes of them
    results       the runs that workers ended, as the store has them
    worker        takes chunks until it is told to leave
    workshop      makes the runs of a chunk, as any comparison makes its runs
    pace          from when on an endpoint may be asked, for all workers
    attendance    which workers are alive, and what becomes of the chunks of those that are not
    engine        the queue: DBOS. Only this module knows it; the extra `fleet` brings it

Nothing is exported here, and nothing of it is loaded before it is used.
"""
