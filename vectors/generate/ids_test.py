"""Which changes keep the ids of tests. Run by `vectors/generate/run --check`."""

import copy
import unittest

import ids


def case(comment, **fields):
    return {"comment": comment, "flags": ["Flag"], **fields, "result": "valid"}


def numbered(groups, previous, last):
    """A copy of the groups with their ids, as they are written to the file."""
    groups = copy.deepcopy(groups)
    given, last = ids.number(groups, previous, last)
    given = iter(given)
    for group in groups:
        group["tests"] = [{"tcId": next(given), **test} for test in group["tests"]]
    return groups, last


def ids_of(groups):
    return [[test["tcId"] for test in group["tests"]] for group in groups]


class Ids(unittest.TestCase):
    def setUp(self):
        self.groups = [
            {"type": "A", "source": ["S"], "tests": [case("one", input=1, output=10), case("two", input=2, output=20)]},
            {"type": "A", "source": ["S"], "role": "hub", "tests": [case("one", input=1, output=10)]},
        ]
        self.file, self.last = numbered(self.groups, [], 0)

    def after(self, change):
        groups = copy.deepcopy(self.groups)
        change(groups)
        file, self.last = numbered(groups, self.file, self.last)
        return ids_of(file)

    def test_a_new_file_is_numbered_in_order(self):
        self.assertEqual(ids_of(self.file), [[1, 2], [3]])

    def test_nothing_changes_where_nothing_changed(self):
        self.assertEqual(self.after(lambda groups: None), [[1, 2], [3]])

    def test_a_test_at_the_start_of_a_group_renumbers_none(self):
        new = case("new", input=0, output=0)
        self.assertEqual(self.after(lambda groups: groups[0]["tests"].insert(0, new)), [[4, 1, 2], [3]])
        self.assertEqual(self.last, 4)

    def test_a_new_group_renumbers_none(self):
        new = {"type": "B", "source": ["S"], "tests": [case("one", input=1, output=10)]}
        self.assertEqual(self.after(lambda groups: groups.insert(0, new)), [[4], [1, 2], [3]])

    def test_tests_and_groups_that_move_keep_their_ids(self):
        self.assertEqual(self.after(lambda groups: groups.reverse()), [[3], [1, 2]])
        self.assertEqual(self.after(lambda groups: groups[0]["tests"].reverse()), [[2, 1], [3]])

    def test_the_id_of_a_removed_test_is_not_used_again(self):
        self.file, self.last = numbered(self.groups[:1], self.file, self.last)
        self.assertEqual(ids_of(self.file), [[1, 2]])
        self.groups[1]["tests"] = [case("new", input=5, output=50)]
        self.assertEqual(self.after(lambda groups: None), [[1, 2], [4]])

    def test_a_test_whose_values_change_keeps_its_id(self):
        self.assertEqual(self.after(lambda groups: groups[0]["tests"][1].update(output=21)), [[1, 2], [3]])

    def test_a_test_whose_comment_is_reworded_keeps_its_id(self):
        self.assertEqual(self.after(lambda groups: groups[0]["tests"][1].update(comment="second")), [[1, 2], [3]])

    def test_a_new_test_does_not_take_the_id_of_one_with_the_same_comment(self):
        new = case("one", input=0, output=0)
        self.assertEqual(self.after(lambda groups: groups[0]["tests"].insert(0, new)), [[4, 1, 2], [3]])

    def test_equal_tests_keep_their_order(self):
        self.groups[0]["tests"].append(copy.deepcopy(self.groups[0]["tests"][0]))
        self.file, self.last = numbered(self.groups, self.file, self.last)
        self.assertEqual(ids_of(self.file), [[1, 2, 4], [3]])
        self.assertEqual(self.after(lambda groups: None), [[1, 2, 4], [3]])
