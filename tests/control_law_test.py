#!/usr/bin/env python3
"""Relay or refuse: random control edges on random modules, through the whole pipeline.

A module is grown from a seed: operations of all families, called bodies, loops, conditionals, fusions, aliases, and control edges
between any two instructions of a computation. Every instruction has its own `op_name`, which its clones and expansions keep. The
module is compiled with --preserve-control-deps by both spines, flat and cut into pieces, and the law is read off the programs:

  * an edge, or a chain of edges through instructions that are gone, is implied: what is last of the predecessor has a path (data or
    ORDERED edges) to what is last of the successor;
  * no ORDERED edge joins two instructions that the module did not order;
  * the program is acyclic: the text is a valid order (the runtime checks that), instances are listed in one.

    control_law_test.py BIN [--seeds N] [--first K] [--keep DIR]
"""

import argparse
import collections
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from hilo.penguin import load  # noqa: E402
from hilo.penguin.execute import check_edges  # noqa: E402

UNARY = ["sine", "cosine", "exponential", "negate", "abs", "tanh", "logistic", "log-plus-one", "exponential-minus-one", "cbrt",
         "round-nearest-afz", "floor", "copy", "erf", "log"]
BINARY = ["add", "multiply", "subtract", "maximum", "minimum", "divide"]
COLLECTIVES = ["all-reduce", "all-gather", "reduce-scatter", "collective-permute", "all-to-all"]
# What has no statement of its own, or none that has to wait: it may be gone, and needs no operand to wait with.
WAITLESS = {"parameter", "constant", "iota", "tuple", "get-tuple-element"}


class Node:
    """An instruction: its number (and op_name), opcode, operands and control predecessors (both nodes), called bodies."""

    def __init__(self, number, op, operands, bodies=()):
        self.number, self.op, self.operands, self.bodies = number, op, operands, list(bodies)
        self.preds = []
        self.text = ""  # without control-predecessors and metadata
        self.scope = ""
        self.is_root = False

    def __str__(self):
        edges = ", control-predecessors={" + ", ".join(f"n{p.number}" for p in self.preds) + "}" if self.preds else ""
        root = "ROOT " if self.is_root else ""
        return f'  {root}n{self.number} = {self.text}{edges}, metadata={{op_name="{self.scope}n{self.number}"}}'


class Body:
    """A computation under construction: f32[8] values, and the nodes in order."""

    def __init__(self, grower, name, n_params, shape="f32[8]"):
        self.grower, self.name, self.shape = grower, name, shape
        self.is_fused = False
        self.nodes = []
        self.params = [self.add("parameter", [], f"{shape} parameter({k})") for k in range(n_params)]
        self.values = list(self.params)

    def add(self, op, operands, text, bodies=()):
        node = Node(self.grower.fresh(), op, operands, bodies)
        names = {f"${k}": f"n{o.number}" for k, o in enumerate(operands)}
        for key in sorted(names, reverse=True):
            text = text.replace(key, names[key])
        node.text, node.scope = text, self.grower.scope
        self.nodes.append(node)
        return node

    def pick(self):
        recent = self.values[-6:] if self.grower.random.random() < 0.6 else self.values
        return self.grower.random.choice(recent)

    def add_edges(self, n):
        """Control edges from any node to a later one."""
        for _ in range(n if len(self.nodes) > 1 else 0):
            a, b = sorted(self.grower.random.sample(range(len(self.nodes)), 2))
            pred, succ = self.nodes[a], self.nodes[b]
            if pred not in succ.preds and (succ.operands or succ.op in WAITLESS):
                succ.preds.append(pred)

    def finish(self, root):
        root.is_root = True
        self.root = root

    def __str__(self):
        return "\n".join(str(n) for n in self.nodes)


class Grower:
    """A module from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.bodies = []
        r = self.random
        self.scope = ""
        entry = Body(self, "main", r.randint(1, 4))
        self.has_collectives = r.random() < 0.5
        n, n_layers = r.randint(4, 40), r.randint(1, 4)
        for k in range(n):
            if n_layers > 1:
                self.scope = f"net/layers_{k * n_layers // n}/"
            self.grow(entry, 0)
        self.scope = ""
        outputs = [r.choice(entry.values) for _ in range(r.randint(1, 6))] + entry.values[-2:]
        shapes = ", ".join("f32[8]" for _ in outputs)
        entry.finish(entry.add("tuple", outputs, f"({shapes}) tuple({', '.join(f'n{o.number}' for o in outputs)})"))
        entry.add_edges(r.randint(1, 2 + len(entry.nodes) // 2))
        self.entry, self.outputs = entry, outputs
        self.aliases = ""
        if r.random() < 0.5:
            pairs = list(zip(r.sample(range(len(outputs)), min(len(outputs), len(entry.params))),
                             r.sample(range(len(entry.params)), len(entry.params))))
            kind = ["must-alias", "may-alias"]
            self.aliases = ", input_output_alias={ " + ", ".join(
                f"{{{o}}}: ({p}, {{}}, {r.choice(kind)})" for o, p in pairs) + " }"

    def fresh(self):
        self.count += 1
        return self.count - 1

    def grow(self, b, depth):
        r = self.random
        kinds = ["unary"] * 6 + ["binary"] * 6 + ["shape", "select", "clamp", "reduce", "dot", "pair", "barrier", "update", "constant",
                                                 "iota", "convert", "popcnt", "gelu", "sort", "int64", "complex", "view"]
        if depth == 0:
            kinds += ["call", "call", "conditional", "while", "transfer"]
            kinds += ["collective"] * 5 if self.has_collectives else []
        b.values.append(getattr(self, "grow_" + r.choice(kinds))(b))

    def grow_unary(self, b):
        return self.unary(b, b.pick(), self.random.choice(UNARY))

    def unary(self, b, x, op):
        return b.add(op, [x], f"f32[8] {op}($0)")

    def grow_binary(self, b):
        op = self.random.choice(BINARY)
        return b.add(op, [b.pick(), b.pick()], f"f32[8] {op}($0, $1)")

    def grow_shape(self, b):
        r, x = self.random, b.pick()
        which = r.randrange(6)
        if which == 0:
            y = b.add("reshape", [x], "f32[2,4] reshape($0)")
            y = b.add("transpose", [y], "f32[4,2] transpose($0), dimensions={1,0}")
            return b.add("reshape", [y], "f32[8] reshape($0)")
        if which == 1:
            y = b.add("slice", [x], "f32[4] slice($0), slice={[0:4]}")
            return b.add("concatenate", [y, y], "f32[8] concatenate($0, $1), dimensions={0}")
        if which == 2:
            return b.add("reverse", [x], "f32[8] reverse($0), dimensions={0}")
        if which == 3:
            y = b.add("broadcast", [x], "f32[2,8] broadcast($0), dimensions={1}")
            y = b.add("slice", [y], "f32[1,8] slice($0), slice={[0:1], [0:8]}")
            return b.add("reshape", [y], "f32[8] reshape($0)")
        if which == 4:
            z = b.add("constant", [], "f32[] constant(0)")
            y = b.add("slice", [x], "f32[6] slice($0), slice={[0:6]}")
            return b.add("pad", [y, z], "f32[8] pad($0, $1), padding=1_1")
        return b.add("copy", [x], "f32[8] copy($0)")

    def grow_view(self, b):
        x = b.pick()
        if self.random.random() < 0.5:
            return b.add("reshape", [x], "f32[8] reshape($0)")
        y = b.add("reshape", [x], "f32[2,4] reshape($0)")
        return b.add("reshape", [y], "f32[8] reshape($0)")

    def grow_select(self, b):
        c = b.add("compare", [b.pick(), b.pick()], "pred[8] compare($0, $1), direction=LT")
        return b.add("select", [c, b.pick(), b.pick()], "f32[8] select($0, $1, $2)")

    def grow_clamp(self, b):
        return b.add("clamp", [b.pick(), b.pick(), b.pick()], "f32[8] clamp($0, $1, $2)")

    def reducer(self):
        name = f"sum{self.fresh()}"
        self.bodies.append(f"{name} {{\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT r = f32[] add(x, y)\n}}\n")
        return name

    def grow_reduce(self, b):
        z = b.add("constant", [], "f32[] constant(0)")
        y = b.add("reduce", [b.pick(), z], f"f32[] reduce($0, $1), dimensions={{0}}, to_apply={self.reducer()}")
        return b.add("broadcast", [y], "f32[8] broadcast($0), dimensions={}")

    def grow_dot(self, b):
        y = b.add("dot", [b.pick(), b.pick()], "f32[] dot($0, $1), lhs_contracting_dims={0}, rhs_contracting_dims={0}")
        return b.add("broadcast", [y], "f32[8] broadcast($0), dimensions={}")

    def grow_pair(self, b):
        t = b.add("tuple", [b.pick(), b.pick()], "(f32[8], f32[8]) tuple($0, $1)")
        return b.add("get-tuple-element", [t], f"f32[8] get-tuple-element($0), index={self.random.randrange(2)}")

    def grow_barrier(self, b):
        t = b.add("tuple", [b.pick(), b.pick()], "(f32[8], f32[8]) tuple($0, $1)")
        t = b.add("opt-barrier", [t], "(f32[8], f32[8]) opt-barrier($0)")
        return b.add("get-tuple-element", [t], f"f32[8] get-tuple-element($0), index={self.random.randrange(2)}")

    def grow_update(self, b):
        y = b.add("slice", [b.pick()], "f32[3] slice($0), slice={[0:3]}")
        k = b.add("constant", [], f"s32[] constant({self.random.randrange(6)})")
        return b.add("dynamic-update-slice", [b.pick(), y, k], "f32[8] dynamic-update-slice($0, $1, $2)")

    def grow_constant(self, b):
        return b.add("constant", [], "f32[8] constant({1, 2, 3, 4, 5, 6, 7, 8})")

    def grow_iota(self, b):
        return b.add("iota", [], "f32[8] iota(), iota_dimension=0")

    def grow_convert(self, b):
        to = self.random.choice(["bf16", "f16", "s32", "f32"])
        y = b.add("convert", [b.pick()], f"{to}[8] convert($0)")
        return b.add("convert", [y], "f32[8] convert($0)")

    def grow_popcnt(self, b):
        y = b.add("convert", [b.pick()], "s32[8] convert($0)")
        y = b.add("popcnt", [y], f"s32[8] {self.random.choice(['popcnt', 'count-leading-zeros'])}($0)")
        return b.add("convert", [y], "f32[8] convert($0)")

    def grow_int64(self, b):
        y = b.add("convert", [b.pick()], "s64[8] convert($0)")
        y = b.add("add", [y, y], "s64[8] add($0, $1)")
        return b.add("convert", [y], "f32[8] convert($0)")

    def grow_complex(self, b):
        c = b.add("complex", [b.pick(), b.pick()], "c64[8] complex($0, $1)")
        d = b.add("multiply", [c, c], f"c64[8] {self.random.choice(['multiply', 'add'])}($0, $1)")
        op = self.random.choice(["real", "imag"])
        return b.add(op, [d], f"f32[8] {op}($0)")

    def grow_gelu(self, b):
        return b.add("custom-call", [b.pick()], 'f32[8] custom-call($0), custom_call_target="AwsNeuronGelu"')

    def grow_transfer(self, b):
        x = b.pick()
        for _ in range(self.random.randint(1, 2)):
            x = b.add("custom-call", [x], 'f32[8] custom-call($0), custom_call_target="AwsNeuronTransferWithStaticRing"')
        return x

    def grow_sort(self, b):
        name = f"less{self.fresh()}"
        self.bodies.append(f"{name} {{\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
                           "  ROOT r = pred[] compare(x, y), direction=LT, type=TOTALORDER\n}\n")
        return b.add("sort", [b.pick()], f"f32[8] sort($0), dimensions={{0}}, is_stable=true, to_apply={name}")

    def grow_collective(self, b):
        op = self.random.choice(COLLECTIVES)
        x = b.pick()
        if op == "all-reduce":
            return b.add(op, [x], f"f32[8] all-reduce($0), replica_groups={{{{0,1}}}}, to_apply={self.reducer()}")
        if op == "all-gather":
            y = b.add(op, [x], "f32[16] all-gather($0), replica_groups={{0,1}}, dimensions={0}")
            return b.add("slice", [y], "f32[8] slice($0), slice={[4:12]}")
        if op == "reduce-scatter":
            y = b.add(op, [x], f"f32[4] reduce-scatter($0), replica_groups={{{{0,1}}}}, dimensions={{0}}, to_apply={self.reducer()}")
            return b.add("concatenate", [y, y], "f32[8] concatenate($0, $1), dimensions={0}")
        if op == "all-to-all":
            return b.add(op, [x], "f32[8] all-to-all($0), replica_groups={{0,1}}, dimensions={0}")
        return b.add(op, [x], "f32[8] collective-permute($0), source_target_pairs={{0,1},{1,0}}")

    def body(self, n_params, fused=False):
        b = Body(self, f"body{self.fresh()}", n_params)
        b.is_fused = fused
        for _ in range(self.random.randint(1, 5)):
            self.grow_unary(b) if fused else None
            if fused:
                b.values.append(b.nodes[-1])
            else:
                self.grow(b, 1)
        root = b.values[-1]
        b.finish(root)
        if not fused:
            b.add_edges(self.random.randint(0, 3))
        self.bodies.append(f"{b.name} {{\n{b}\n}}\n")
        return b

    def grow_call(self, b):
        body = self.body(2)
        return b.add("call", [b.pick(), b.pick()], f"f32[8] call($0, $1), to_apply={body.name}", [body])

    def grow_fusion(self, b):
        body = self.body(1, fused=True)
        return b.add("fusion", [b.pick()], f"f32[8] fusion($0), kind=kLoop, calls={body.name}", [body])

    def grow_conditional(self, b):
        bodies = [self.body(1), self.body(1)]
        k = b.add("slice", [b.pick()], "f32[1] slice($0), slice={[0:1]}")
        k = b.add("reshape", [k], "f32[] reshape($0)")
        k = b.add("convert", [k], "pred[] convert($0)")
        return b.add("conditional", [k, b.pick(), b.pick()], f"f32[8] conditional($0, $1, $2), true_computation={bodies[0].name}, "
                     f"false_computation={bodies[1].name}", bodies)

    def grow_while(self, b):
        step = self.body(1)
        n = self.random.randint(1, 3)
        name = f"loop{self.fresh()}"
        z = b.add("constant", [], "s32[] constant(0)")
        t = b.add("tuple", [z, b.pick()], "(s32[], f32[8]) tuple($0, $1)")
        t = b.add("while", [t], f"(s32[], f32[8]) while($0), condition={name}.cond, body={name}", [step])
        own = f', metadata={{op_name="{t.scope}n{t.number}"}}'  # the counter is the loop's
        self.bodies.append(f"""{name} {{
  t = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[8] get-tuple-element(t), index=1
  one = s32[] constant(1){own}
  j = s32[] add(i, one){own}
  y = f32[8] call(x), to_apply={step.name}
  ROOT r = (s32[], f32[8]) tuple(j, y)
}}
{name}.cond {{
  t = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant({n})
  ROOT r = pred[] compare(i, n), direction=LT
}}
""")
        return b.add("get-tuple-element", [t], "f32[8] get-tuple-element($0), index=1")

    def text(self):
        return (f"HloModule law{self.aliases}\n\n" + "\n".join(self.bodies) + f"\nENTRY main {{\n{self.entry}\n}}\n")

    # ---- what the module orders ----

    def all_bodies(self):
        todo, found = [self.entry], []
        while todo:
            body = todo.pop()
            found.append(body)
            todo += [b for node in body.nodes for b in node.bodies]
        return found

    def order(self):
        """Successors by number: operands and edges; what is called runs where the caller stands, and gives its value."""
        after = collections.defaultdict(set)
        for body in self.all_bodies():
            for node in body.nodes:
                for inner in (n for called in node.bodies for n in called.nodes):
                    after[inner.number].add(node.number)
                    if node.op == "while":  # the next turn starts with what this one gave
                        after[node.bodies[0].root.number].add(inner.number)
                for p in node.operands + node.preds:
                    after[p.number].add(node.number)
                    for inner in (n for called in node.bodies for n in called.nodes):
                        after[p.number].add(inner.number)
                    for inner in (n for called in p.bodies for n in called.nodes):
                        after[inner.number].add(node.number)
                        for other in (n for called in node.bodies for n in called.nodes):
                            after[inner.number].add(other.number)
        return after


def reach(after, start):
    """All that comes behind `start`."""
    seen, todo = set(), [start]
    while todo:
        for n in after.get(todo.pop(), ()):
            if n not in seen:
                seen.add(n)
                todo.append(n)
    return seen


class Emitted:
    """The operations of a program, and of all instances of a netlist, as one graph."""

    def __init__(self, program):
        self.after = collections.defaultdict(set)
        self.groups = collections.defaultdict(list)  # number -> operations in order
        self.ordered = []  # edges as numbers
        self.count = 0
        if hasattr(program, "definitions"):
            self.add_netlist(program)
        else:
            self.add(program, {})

    def add(self, function, producers):
        """Operations of one program; `producers` holds the operation behind each input's global value. Returns that of outputs."""
        check_edges(function)
        writer = {t: producers.get(k) for k, t in enumerate(function.inputs)}
        ids, headers = {}, set()
        for op in function.operations:
            ids[op] = me = self.count
            self.count += 1
            if op.tag == "mhlo.fusion":
                headers.add(op)
                continue
            for tensor in op.srcs:
                if writer.get(tensor) is not None:
                    self.after[writer[tensor]].add(me)
            for tensor in op.dsts:
                if tensor in writer and writer[tensor] is not None:
                    self.after[writer[tensor]].add(me)
                writer[tensor] = me
            number = self.number_of(op)
            if number is not None:
                self.groups[number].append(me)
        for edge in function.edges:
            assert edge.src not in headers and edge.dst not in headers, "an edge of a fusion's header"
            self.after[ids[edge.src]].add(ids[edge.dst])
            self.ordered.append((self.number_of(edge.src), self.number_of(edge.dst)))
        return [writer.get(t) for t in function.outputs], list(ids.values())

    @staticmethod
    def number_of(op):
        head, _, instruction = getattr(op.dl, "tensor_op_name", "").rpartition("/")[2].partition("_")
        is_output_copy = op.tag == "OffloadedMemCpy" and instruction.startswith("copy")
        return int(head[1:]) if head[:1] == "n" and head[1:].isdigit() and not is_output_copy else None

    def add_netlist(self, netlist):
        values, members, maker = {}, {}, {}
        for instance in netlist.instances:
            function = instance.function
            producers = {k: values.get(instance.inputs[t.name]) for k, t in enumerate(function.inputs)}
            outputs, mine = self.add(function, producers)
            for tensor, op in zip(function.outputs, outputs):
                values[instance.outputs[tensor.name]] = op
                maker[instance.outputs[tensor.name]] = instance.number
            members[instance.number] = mine
            # An instance runs as a whole: all of one that it reads from, or comes after, before all of it.
            for number in {*instance.after, *(maker[n] for n in instance.inputs.values() if n in maker)}:
                joint = self.count
                self.count += 1
                for op in members[number]:
                    self.after[op].add(joint)
                self.after[joint].update(mine)


def ends_of(node, last):
    """Of what a call, loop or conditional runs, at any depth: what waits for nothing else there, or (last) nothing else waits for."""
    todo, found = list(node.bodies), []
    while todo:
        body = todo.pop()
        users = collections.defaultdict(list)
        for inner in body.nodes:
            for operand in inner.operands:
                users[operand].append(inner)
        for inner in body.nodes:
            near, seen = list(users[inner] if last else inner.operands), set()
            while near and (near[-1].op in WAITLESS or near[-1] in seen):
                view = near.pop()
                if view not in seen:
                    seen.add(view)
                    near += users[view] if last else view.operands
            if not near:
                found.append(inner)
                todo += inner.bodies
    return found


class Law:
    """Pairs of numbers that must be in order: the two ends of each edge, or what stands for one that has no statement."""

    def __init__(self, grower, groups):
        self.groups, self.pairs = groups, set()
        for body in grower.all_bodies():
            if body.is_fused:
                continue
            users = collections.defaultdict(list)
            for node in body.nodes:
                for operand in node.operands:
                    users[operand].append(node)
            for s in body.nodes:
                behind = self.successors(s, users, body.root) if s.preds else ()
                for p in {q for pred in s.preds for q in self.predecessors(pred)} if behind else ():
                    self.pairs.update((p, q) for q in behind if p != q)

    def predecessors(self, p):
        """A view stands for what it shows, what has gone for what came before it, a call for all that it runs."""
        found, todo, seen = set(), [p], set()
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            if node.bodies:
                found |= {n.number for n in ends_of(node, True) if n.number in self.groups and n.op not in WAITLESS}
            elif node.op == "get-tuple-element" and node.operands[0].op == "tuple":
                todo += [*node.preds, node.operands[0].operands[int(node.text.rpartition("=")[2])]]
            elif node.op in ("tuple", "get-tuple-element"):
                # An element of what a call gives need not be behind all that the call runs.
                todo += node.preds + [o for o in node.operands if not o.bodies]
            elif node.number in self.groups:
                found |= {node.number} if node.op != "constant" else set()
            else:
                todo += node.preds
        return found

    def successors(self, s, users, root):
        """A view passes on what it owes, a call to all that it runs; what has no operand waits for nothing."""
        found, todo, seen = set(), [s], set()
        while todo:
            node = todo.pop()
            if node in seen or (node is root and node.op in ("tuple", "get-tuple-element")):
                continue
            seen.add(node)
            if node.bodies and node is not s:
                continue  # what it runs need not use what it is given
            if node.bodies:
                found |= {n.number for n in ends_of(node, False) if n.number in self.groups and n.op not in WAITLESS}
            elif node.op == "get-tuple-element":
                todo += users[node]
            elif node.number in self.groups and node.op not in WAITLESS:
                found.add(node.number)
        return found


def check(grower, program, merges):
    """Complaints. `merges`: collectives may have been merged under the name of one of them."""
    emitted = Emitted(program)
    complaints = []
    reached = {}
    for p, s in sorted(Law(grower, emitted.groups).pairs):
        ps, ss = emitted.groups[p], emitted.groups[s]
        for a in ps:
            if a not in reached:
                reached[a] = reach(emitted.after, a)
        ends = [a for a in ps if not any(b in reached[a] for b in ps)]
        if len(ps) > 1 and len(ps) == len(ss):  # clones: each behind one of the others
            good = all(any(b in reached[a] for a in ps) for b in ss)
        else:
            good = all(ss[-1] in reached[a] for a in ends)
        if not good:
            complaints.append(f"n{p} before n{s} is lost: operations {ps} and {ss}")
    after = grower.order()
    collectives = {n.number for b in grower.all_bodies() for n in b.nodes if n.op in COLLECTIVES}
    twins = collections.defaultdict(list)  # what says the same may have become one, under the name of any of them
    text_of = {n.number: n.text for b in grower.all_bodies() for n in b.nodes}
    for number, text in text_of.items():
        twins[text].append(number)
    known = {}
    for p, s in emitted.ordered:
        if p is None or s is None:
            complaints.append(f"an edge joins statements without a name: {p}, {s}")
            continue
        if p not in known:
            known[p] = set().union(*(reach(after, twin) for twin in twins[text_of[p]]))
        if s not in known[p] and p != s and not (merges and {p, s} & collectives):
            complaints.append(f"n{p} before n{s} is invented")
    return complaints


RUNS = [("stablehlo", []), ("mhlo", ["--stablehlo-lowering=false"]), ("all", ["--schedule", "--coalesce-collectives",
        "--schedule-fusion", "--mlir-canonicalizer", "--remat", "--lower-complex-extra"]),
        ("pieces", ["--partition", "--layers-per-module=1", "--modular-flow-mac-threshold=0", "--modular-flow-mac-target=1"])]


def run_seed(tool, seed, work, kept):
    """(complaints, how many programs, how many edges) of one seed."""
    grower = Grower(seed)
    folder = os.path.join(kept or work, str(seed))
    os.makedirs(folder, exist_ok=True)
    model = os.path.join(folder, "model.hlo.txt")
    with open(model, "w", encoding="utf-8") as file:
        file.write(grower.text())
    complaints, n_programs, n_edges = [], 0, 0
    for name, flags in RUNS:
        out = os.path.join(folder, name)
        os.makedirs(out, exist_ok=True)
        done = subprocess.run([tool, f"--input={model}", "--output=penguin.py", f"--out-dir={out}", f"--logfile={out}/log.txt",
                               "--no-dbg", "--num-replicas=2", "--preserve-control-deps", *flags], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        if done.returncode and "is still a loop" in done.stderr:
            continue  # a loop's start was cut off: refused, and nothing is lost
        if done.returncode:
            complaints.append(f"seed {seed} {name}: exit status {done.returncode}\n{done.stderr[:1500]}")
            continue
        netlist = os.path.join(out, "hlo_netlist.json")
        program = load(netlist if os.path.exists(netlist) else os.path.join(out, "penguin.py"))
        n_programs += 1
        n_edges += sum(len(f.edges) for f in (program.definitions.values() if hasattr(program, "definitions") else [program]))
        complaints += [f"seed {seed} {name}: {text}" for text in check(grower, program, name == "all")]
    return complaints, n_programs, n_edges


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep")
    args = parser.parse_args()
    tool = os.path.join(args.bin, "hlo2penguin")
    n_failed = n_programs = n_edges = 0
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        seeds = range(args.first, args.first + args.seeds)
        for complaints, programs, edges in pool.map(run_seed, *zip(*[(tool, s, work, args.keep) for s in seeds]), chunksize=8):
            n_failed += bool(complaints)
            n_programs += programs
            n_edges += edges
            for text in complaints:
                print(text)
    print(f"{n_programs} programs, {n_edges} ordered edges")
    print(f"{args.seeds - n_failed} passed, {n_failed} failed, 0 skipped")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
