#!/usr/bin/env python3
"""What each token of the partitioner does to the number of pieces, and the counts that the specification states.

usage: flags_test.py BIN
"""

import json
import os
import subprocess
import sys
import tempfile

LAYER = """\
  s{k} = {x} custom-call({before}), custom_call_target="AwsNeuronModuleMarkerStart-Forward"
  d{k} = {y} dot(s{k}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  c{k} = {x} slice(d{k}), slice={{[0:{rows}], [0:{inner}]}}
  e{k} = {x} custom-call(c{k}), custom_call_target="AwsNeuronModuleMarkerEnd-Forward"
"""
ONE = ["--layers-per-module=1"]


def model(n_layers, rows=4, inner=4, columns=4):
    """Equal layers of rows x inner x columns MACs, and an epilogue."""
    x, y, body, before = f"f32[{rows},{inner}]", f"f32[{rows},{columns}]", "", "p"
    for k in range(n_layers):
        body, before = body + LAYER.format(k=k, x=x, y=y, before=before, rows=rows, inner=inner), f"e{k}"
    return (f"HloModule m\nENTRY main {{\n  p = {x} parameter(0)\n  w = f32[{inner},{columns}] parameter(1)\n{body}"
            f"  ROOT r = {x} negate({before})\n}}\n")


class Place:
    def __init__(self, bin_dir, root):
        self.tool, self.root = os.path.join(os.path.abspath(bin_dir), "hlo2penguin"), root

    def compile(self, text, words):
        """(instances, definitions), the netlist, stderr."""
        with open(os.path.join(self.root, "m.hlo"), "w", encoding="utf-8") as f:
            f.write(text)
        done = subprocess.run([self.tool, "--input=m.hlo", "--out-dir=out", "--no-dbg", "--logfile=", "--partition", *words],
                              cwd=self.root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        with open(os.path.join(self.root, "out", "hlo_netlist.json"), encoding="utf-8") as f:
            netlist = json.load(f)
        return (len(netlist["Instances"]), len(netlist["Definitions"])), netlist, done.stderr

    def expect(self, wanted, text, *words):
        found, netlist, _ = self.compile(text, words)
        assert found == wanted, f"{words}: {found} instances and definitions, wanted {wanted}"
        return netlist


def grouping(place):
    six = model(6)  # 64 MACs each
    place.expect((1, 1), six)  # below the threshold
    place.expect((1, 1), six, "--layers-per-module=0")
    place.expect((7, 2), six, *ONE)
    place.expect((3, 3), six, "--layers-per-module=4")  # 4, 2, epilogue
    place.expect((1, 1), six, "--mmf")  # the threshold comes first
    place.expect((7, 2), six, "--mmf", "--modular-flow-mac-threshold=0")
    place.expect((2, 2), six, "--modular-flow-mac-threshold=10")
    place.expect((4, 2), six, "--modular-flow-mac-threshold=10", "--modular-flow-mac-target=128")
    place.expect((3, 2), six, "--modular-flow-mac-target=192")
    place.expect((3, 2), six, "--modular-flow-mac-target=320")  # five fit, but three divide six
    place.expect((7, 7), six, *ONE, "--force-all-uniq")
    assert place.expect((7, 2), six, *ONE)["Definitions"][0]["MacCount"] == 64


def words_without_effect(place):
    six = model(6)
    place.expect((7, 2), six, *ONE, "--transformer", "--build-with-users", "--partitioner-max-disj-runs=9",
                 "--recursive-layer-det=false")
    assert place.expect((7, 2), six, *ONE)["NeuronCoresPerSengine"] == 1
    assert place.expect((7, 2), six, *ONE, "--num-neuroncores-per-sengine=2")["NeuronCoresPerSengine"] == 2


def one_string_of_options(place):
    """It wins over words of the command line; a word that it does not know is a warning there."""
    found, netlist, stderr = place.compile(model(6), [*ONE, "--verbose=warning", "--partitioner-opts=--layers-per-module=2 --nosuch "
                                                      "--num-neuroncores-per-sengine=2"])
    assert found == (4, 2) and netlist["NeuronCoresPerSengine"] == 2
    assert "[WARNING]" in stderr and "--nosuch" in stderr


def stated_counts(place):
    """cli-and-partition 12.4."""
    layers = model(48)
    netlist = place.expect((49, 2), layers, *ONE)
    assert [i["DefID"] for i in netlist["Instances"]] == [0] * 48 + [1]
    place.expect((49, 49), layers, *ONE, "--force-all-uniq")
    netlist = place.expect((4, 2), model(6, 3000, 1000, 30000), "--modular-flow-mac-target=200000000000")  # 9e10 each
    assert [d["Layers"] for d in netlist["Definitions"]] == [[0, 1], []]
    for folder, _, names in os.walk(os.path.join(place.root, "out")):
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                assert "Marker" not in f.read(), name


TESTS = [grouping, words_without_effect, one_string_of_options, stated_counts]

if __name__ == "__main__":
    for test in TESTS:
        with tempfile.TemporaryDirectory(prefix="hilo-flags-") as folder:
            test(Place(sys.argv[1], folder))
        print(f"ok {test.__name__}")
