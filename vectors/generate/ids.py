"""The tcId of each test. A test keeps its id: adding a test renumbers no other, and no id is used twice."""

import json

# A test is recognized in the file as it was by the first of these that finds it there. So it keeps its id when the
# values it expects change, and when its comment is reworded, but not when both happen at once.
MARKS = {
    "everything": lambda test: test,
    "name": lambda test: [test.get(field) for field in ("type", "role", "pattern", "suite", "comment")],
    "content": lambda test: {field: value for field, value in test.items() if field not in ("comment", "flags")},
}


def flatten(groups):
    """Every test with the fields of its group that identify it, which the source of its values does not."""
    for group in groups:
        shared = {field: value for field, value in group.items() if field not in ("source", "tests")}
        for test in group["tests"]:
            yield {**shared, **test}


def number(groups, previous, last):
    """Returns the ids of all tests of `groups`, in order, and the highest id ever used.

    `previous` are the groups of the file as it was. `last` is the highest id used so far, by any test, removed or not.
    """
    tests = list(flatten(groups))
    free = {test.pop("tcId"): test for test in flatten(previous)}
    ids = [None] * len(tests)
    for mark in MARKS.values():
        found = {}
        for id, test in free.items():
            found.setdefault(key(mark, test), []).append(id)
        for index, test in enumerate(tests):
            if ids[index] is None and found.get(key(mark, test)):
                ids[index] = found[key(mark, test)].pop(0)
                del free[ids[index]]
    for index, id in enumerate(ids):
        if id is None:
            last += 1
            ids[index] = last
    return ids, last


def key(mark, test):
    return json.dumps(mark(test), sort_keys=True)
