"""Random stacks of layers as HLO text, for the property test beside this file.

A stack is a recipe of steps that each layer follows with weights of its own, some values that all layers share, what is before and
behind, and often the gradient pass. The layers are told by markers, by scopes, or by nothing but their likeness. `plain` is the same
module with markers that do nothing: tuples and copies.
"""

import random

ROWS, COLUMNS = 3, 4
X = f"f32[{ROWS},{COLUMNS}]"
W = f"f32[{COLUMNS},{COLUMNS}]"

COMPUTATIONS = """\
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
step {
  s = (s32[], X) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = X get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  y = X cosine(x)
  ROOT r = (s32[], X) tuple(n, y)
}
goes_on {
  s = (s32[], X) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT r = pred[] compare(i, three), direction=LT
}
called {
  a = X parameter(0)
  b = X parameter(1)
  m = X maximum(a, b)
  ROOT r = X subtract(m, a)
}
""".replace("X", X)


class Stack:
    """One module. `text` has the layers told in the way named by `way`, `plain` has nothing of it."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.way = self.pick.choice(["markers", "markers", "markers", "scopes", "repetition"])
        self.ranks = self.pick.choice([1, 1, 2])
        self.n_layers = self.pick.randint(2, 6)
        self.has_gradient = self.pick.random() < 0.4
        self.n_carried = self.pick.choice([1, 1, 2])
        self.lines, self.params, self.n, self.channel = [], [], 0, 0
        self.scope, self.token, self.last = "", None, None
        self.bodies()
        self.text, self.plain = self.render(True), self.render(False)

    # ---- writing ----

    def put(self, kind, rest, name=None):
        """An instruction. `rest` may hold `<>` where the scope goes."""
        self.n += 1
        name = name or f"v{self.n}"
        words = f", metadata={{op_name=\"jit(f)/{self.scope}/x\"}}" if self.scope else ""
        self.lines.append(f"  {name} = {kind} {rest}{words}")
        return name

    def param(self, kind):
        name = f"p{len(self.params)}"
        self.params.append(f"  {name} = {kind} parameter({len(self.params)})")
        return name

    def marker(self, values, word):
        """What the values are called behind a marker around them."""
        if self.way != "markers":
            return values
        name = f"m{self.n}"
        self.n += 1
        types = X if len(values) == 1 else f"({', '.join([X] * len(values))})"
        self.lines.append((name, types, values, word))
        if len(values) == 1:
            return [name]
        return [self.put(X, f"get-tuple-element({name}), index={k}") for k in range(len(values))]

    def render(self, marked):
        lines = []
        for line in self.lines:
            if isinstance(line, str):
                lines.append(line if marked else line.split(", metadata=")[0])
                continue
            name, types, values, word = line
            if marked:
                what = f'custom-call({", ".join(values)}), custom_call_target="AwsNeuronModuleMarker{word}"'
            else:
                what = f"copy({values[0]})" if len(values) == 1 else f"tuple({', '.join(values)})"
            lines.append(f"  {name} = {types} {what}")
        head = f"HloModule stack, num_partitions={self.ranks}{self.aliases}\n"
        return head + COMPUTATIONS + "ENTRY main {\n" + "\n".join(self.params + lines + [self.root]) + "\n}\n"

    # ---- what layers are made of ----

    STEPS = ["dot", "dot", "unary", "unary", "binary", "shared", "scale", "norm", "bf16", "turn", "sort", "loop", "call", "barrier",
             "table", "iota", "rank", "token", "control", "load", "copy", "stack", "reduce", "gather"]

    def recipe(self):
        steps = ["dot"]
        for _ in range(self.pick.randint(1, 6)):
            steps.append(self.pick.choice(self.STEPS))
        return [(step, [self.pick.randrange(1000) for _ in range(4)]) for step in steps]

    def apply(self, step, dice, values, layer):
        """A new value of the layer."""
        x, y = values[dice[0] % len(values)], values[dice[1] % len(values)]
        return getattr(self, "step_" + step)(x, y, dice, layer)

    def dot(self, x, w):
        return self.put(X, f"dot({x}, {w}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")

    def step_dot(self, x, y, dice, layer):
        return self.dot(x, self.weights[layer][dice[2] % len(self.weights[layer])])

    def step_unary(self, x, y, dice, layer):
        return self.put(X, f"{['tanh', 'sine', 'negate', 'abs', 'exponential', 'logistic'][dice[2] % 6]}({x})")

    def step_binary(self, x, y, dice, layer):
        return self.put(X, f"{['add', 'subtract', 'multiply', 'maximum'][dice[2] % 4]}({x}, {y})")

    def step_shared(self, x, y, dice, layer):
        return self.put(X, f"add({x}, {self.shared[dice[2] % len(self.shared)]})")

    def step_scale(self, x, y, dice, layer):
        c = self.put("f32[]", f"constant({0.5 + (layer if dice[2] % 2 else 0)})")
        return self.put(X, f"multiply({x}, {self.put(X, f'broadcast({c}), dimensions={{}}')})")

    def step_norm(self, x, y, dice, layer):
        zero = self.put("f32[]", "constant(0)")
        total = self.put(f"f32[{ROWS}]", f"reduce({x}, {zero}), dimensions={{1}}, to_apply=sum")
        return self.put(X, f"subtract({y}, {self.put(X, f'broadcast({total}), dimensions={{0}}')})")

    def step_bf16(self, x, y, dice, layer):
        return self.put(X, f"convert({self.put(X.replace('f32', 'bf16'), f'convert({x})')})")

    def step_turn(self, x, y, dice, layer):
        turned = self.put(f"f32[{COLUMNS},{ROWS}]", f"transpose({x}), dimensions={{1,0}}")
        return self.put(X, f"reshape({turned})")

    def step_sort(self, x, y, dice, layer):
        places = self.put(f"s32[{ROWS},{COLUMNS}]", "iota(), iota_dimension=1")
        both = self.put(f"({X}, s32[{ROWS},{COLUMNS}])", f"sort({x}, {places}), dimensions={{1}}, to_apply=less")
        if dice[2] % 2:
            return self.put(X, f"get-tuple-element({both}), index=0")
        return self.put(X, f"convert({self.put(f's32[{ROWS},{COLUMNS}]', f'get-tuple-element({both}), index=1')})")

    def step_loop(self, x, y, dice, layer):
        zero = self.put("s32[]", "constant(0)")
        start = self.put(f"(s32[], {X})", f"tuple({zero}, {x})")
        loop = self.put(f"(s32[], {X})", f"while({start}), condition=goes_on, body=step")
        return self.put(X, f"get-tuple-element({loop}), index=1")

    def step_call(self, x, y, dice, layer):
        return self.put(X, f"call({x}, {y}), to_apply=called")

    def step_barrier(self, x, y, dice, layer):
        both = self.put(f"({X}, {X})", f"tuple({x}, {y})")
        behind = self.put(f"({X}, {X})", f"opt-barrier({both})")
        if dice[2] % 4 == 0:
            self.later.append((behind, dice[3] % 2))
        return self.put(X, f"get-tuple-element({behind}), index={dice[3] % 2}")

    def step_table(self, x, y, dice, layer):
        table = self.put("f32[1100]", f"constant({{{', '.join(str(k % 7) for k in range(1100))}}})")
        part = self.put("f32[12]", f"slice({table}), slice={{[{layer}:{layer + 12}]}}")
        return self.put(X, f"add({x}, {self.put(X, f'reshape({part})')})")

    def step_iota(self, x, y, dice, layer):
        return self.put(X, f"add({x}, {self.put(X, 'iota(), iota_dimension=0')})")

    def step_rank(self, x, y, dice, layer):
        rank = self.put("f32[]", f"convert({self.put('u32[]', 'partition-id()')})")
        return self.put(X, f"add({x}, {self.put(X, f'broadcast({rank}), dimensions={{}}')})")

    def step_token(self, x, y, dice, layer):
        self.token = self.put("token[]", f"after-all({self.token or ''})")
        return self.put(X, f"add-dependency({x}, {self.token})")

    def step_control(self, x, y, dice, layer):
        before = f", control-predecessors={{{self.last}}}" if self.last else ""
        self.last = self.put(X, f"negate({x}){before}")
        return self.last

    def step_load(self, x, y, dice, layer):
        w = self.weights[layer][0]
        return self.dot(x, self.put(W, f'custom-call({w}), custom_call_target="AwsNeuronTransferWithStaticRing"'))

    def step_copy(self, x, y, dice, layer):
        return self.put(X, f"copy({x})")

    def step_stack(self, x, y, dice, layer):
        if dice[2] % 2:
            part = self.put(f"f32[1,{ROWS},{COLUMNS}]",
                            f"slice({self.stacked}), slice={{[{layer}:{layer + 1}], [0:{ROWS}], [0:{COLUMNS}]}}")
        else:
            at, zero = self.put("s32[]", f"constant({layer})"), self.put("s32[]", "constant(0)")
            part = self.put(f"f32[1,{ROWS},{COLUMNS}]",
                            f"dynamic-slice({self.stacked}, {at}, {zero}, {zero}), dynamic_slice_sizes={{1,{ROWS},{COLUMNS}}}")
        return self.put(X, f"multiply({x}, {self.put(X, f'reshape({part})')})")

    def groups(self):
        self.channel += 1
        return f"channel_id={self.channel}, replica_groups={{{{{','.join(map(str, range(self.ranks)))}}}}}, use_global_device_ids=true"

    def step_reduce(self, x, y, dice, layer):
        return self.put(X, f"all-reduce({x}), {self.groups()}, to_apply=sum")

    def step_gather(self, x, y, dice, layer):
        n = ROWS * self.ranks
        whole = self.put(f"f32[{n},{COLUMNS}]", f"all-gather({x}), {self.groups()}, dimensions={{0}}")
        return self.put(X, f"slice({whole}), slice={{[{n - ROWS}:{n}], [0:{COLUMNS}]}}")

    # ---- the module ----

    def inputs(self):
        self.x = self.param(X)
        self.stacked = self.param(f"f32[{2 * self.n_layers},{ROWS},{COLUMNS}]")
        n_weights = self.pick.randint(1, 3)
        if self.pick.random() < 0.3:
            state = self.param(f"({', '.join([W] * n_weights * self.n_layers)})")
            names = [self.put(W, f"get-tuple-element({state}), index={k}") for k in range(n_weights * self.n_layers)]
        else:
            names = [self.param(W) for _ in range(n_weights * self.n_layers)]
        self.weights = [names[k * n_weights:(k + 1) * n_weights] for k in range(self.n_layers)]
        if self.pick.random() < 0.3:  # a weight that two layers share
            self.weights[-1][0] = self.weights[0][0]

    def forward(self, recipe, carried):
        self.later = []  # (tuple, index) that another layer reads as well
        for layer in range(self.n_layers):
            self.scope = f"layers_{layer}" if self.way == "scopes" else ""
            values = self.marker(list(carried), "Start-Forward")
            if self.later and self.pick.random() < 0.5:
                name, index = self.pick.choice(self.later)
                values.append(self.put(X, f"get-tuple-element({name}), index={index}"))
            if self.kept and self.pick.random() < 0.2:
                values.append(self.pick.choice(self.kept))  # of a layer long before
            for step, dice in recipe:
                values.append(self.apply(step, dice, values, layer))
            if self.pick.random() < 0.15:  # one layer unlike the others
                values.append(self.step_unary(values[-1], None, [0, 0, self.pick.randrange(6)], layer))
            values.append(self.put(X, f"add({values[-1]}, {values[0]})"))  # what leaves a layer depends on what enters it
            self.kept.append(values[self.pick.randrange(len(values))])
            self.saved.append(values[-1])
            carried = self.marker((values[-1:] + values[-2:-1])[:self.n_carried], "End-Forward")
            if self.pick.random() < 0.1:  # a gap
                self.scope = ""
                carried[0] = self.put(X, f"floor({carried[0]})")
        return carried

    def backward(self, recipe, carried):
        for layer in reversed(range(self.n_layers)):
            self.scope = f"transpose(jvp(layers_{layer}))" if self.way == "scopes" else ""
            values = self.marker([carried[0]], "Start-Backward") + [self.saved[layer]]
            for step, dice in recipe:
                values.append(self.apply(step, dice, values, layer))
            values.append(self.put(X, f"add({values[-1]}, {values[0]})"))
            self.gradients.append(self.put(W, f"dot({values[-1]}, {self.saved[layer]}), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}"))
            carried = self.marker([values[-1]], "End-Backward")
        self.scope = ""
        return carried

    def bodies(self):
        self.kept, self.saved, self.gradients = [], [], []
        self.inputs()
        self.shared = [self.put(X, f"sine({self.put(X, 'iota(), iota_dimension=1')})"), self.put(X, f"cosine({self.x})")]
        carried = [self.put(X, f"exponential({self.x})") if self.pick.random() < 0.7 else self.x] * self.n_carried
        carried = self.forward(self.recipe(), carried)
        self.scope = ""
        if self.pick.random() < 0.7:
            carried[0] = self.put(X, f"negate({carried[0]})")
        results = list(carried)
        if self.has_gradient:
            results += self.backward(self.recipe(), carried) + self.gradients
        if self.pick.random() < 0.5:
            results += self.pick.sample(self.kept, min(2, len(self.kept)))
        if self.pick.random() < 0.2:
            results += [self.x, results[0]]
        types = [W if r in self.gradients else X for r in results]
        self.aliases = ""
        if types[0] == X and self.pick.random() < 0.4:
            kind = self.pick.choice(["may-alias", "must-alias"])
            self.aliases = f", input_output_alias={{ {{0}}: (0, {{}}, {kind}) }}"
        self.root = f"  ROOT r = ({', '.join(types)}) tuple({', '.join(results)})"
