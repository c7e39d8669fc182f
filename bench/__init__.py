"""The figures of the design's section 7 and of retrieval, measured: `make bench`.

The real server is started as operators start it, on a store of its own on each engine, and is asked
over HTTP as agents ask it. Nothing here is part of the product, and no test asserts a time.

    make bench ARGS="--quick"
    make bench ARGS="--data FOLDER --json figures.json"
"""

# The address of the floor, which bench servers have beside the product's.
FLOOR_PATH = "/bench/floor"
