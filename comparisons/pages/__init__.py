"""A comparison as a page to forward: Markdown for a pull request, one offline HTML file, charts.

The only source of all of them is the JSON of `comparisons.export`.
"""
