"""Right verifiers: the scorer but for what the spec leaves open. The first is the scorer itself."""

from check.versions import says


@says
def correct_1(result):
    """is the scorer itself"""


@says
def correct_2(result):
    """words its message otherwise"""
    result["details"]["message"] = "as the spec has it"


@says
def correct_3(result):
    """orders its details otherwise"""
    result["details"] = dict(reversed(result["details"].items()))


@says
def correct_4(result):
    """gives no message, and adds a note"""
    result["details"].update(message="", note="no message")
