#!/usr/bin/env python3
"""Make XLA's memory-optimised (DFS) and concurrency-optimised (BFS) orders of the modules that schedule_table.py compares.

    HILO_JAX_PYTHON perf/xla_orders.py --peers DIR --corpus DIR --out DIR [--parts plain,flat,fused] [--only WORD]

`--peers` holds xla_pipeline.py, which drives XLA:CPU through jaxlib; `--corpus` has jax/large and hlo-text. Written are
OUT/<part>/<module>.dfs.hlo and .bfs.hlo, HLO text with is_scheduled=true; what is there already is not made again.

plain   the module as it stands, nothing but XLA's scheduler run on it
flat    modules whose computations have several callers: XLA's call-inliner and flatten-call-graph first
fused   what XLA:CPU's whole pipeline leaves, its schedule dropped, scheduled again (hours for all of them)"""
import argparse, os, re, subprocess, sys, tempfile, shutil, time

PLAIN = """llama_l04_infer llama_l04_train llama_l24_infer llama_l24_train llama_l48_infer llama_l48_train detr__training
flan_t5_large__inference gpt_j_6b__training stable_diffusion_1_5__inference vit__inference gemma2_2b_keras gemma3_1b_flax
hlo_llama31_70b_bf16 hlo_llama31_70b_fp8 hlo_llama3_8b_bf16_activation hlo_llama3_8b_cp hlo_mixtral_8x7b mobilenet_v2
resnet50_keras""".split()
FLAT = """alphafold3__inference colabfold__inference deepseek2_16b__training dit__training efficientnet__training
gemma3_4b__training gp3_oss_20b__training llama3_8b__training mixtral_8x7b__training dlrm_keras hlo_gemma4_2b
nv_maxtext_deepseek""".split()
FUSED = """llama_L2 llama_L4 llama_L8 vit__inference resnet50_keras dlrm_keras llama_l04_train hlo_llama31_70b_bf16 mixtral_8x7b__training hlo_llama31_70b_fp8
deepseek2_16b__training flan_t5_large__inference gp3_oss_20b__training stable_diffusion_1_5__inference mobilenet_v2
colabfold__inference dit__training nv_maxtext_deepseek gemma3_1b_flax gemma2_2b_keras efficientnet__training detr__training
gpt_j_6b__training alphafold3__inference llama_L24 llama_l24_train gemma3_4b__training hlo_gemma4_2b llama_L48 llama_l48_train hlo_mixtral_8x7b""".split()
KINDS = {"dfs": "memory", "bfs": "concurrency"}


def inputs(corpus, work):
    """name -> path of HLO text or proto"""
    found = {}
    for case in sorted(os.listdir(os.path.join(corpus, "jax", "large"))):
        packed = os.path.join(corpus, "jax", "large", case, "model.hlo.pb.zst")
        if not case.endswith("_marked") and os.path.exists(packed):
            found[case] = os.path.join(work, case + ".pb")
            if not os.path.exists(found[case]):
                subprocess.run(["zstd", "-dqf", packed, "-o", found[case]], check=True)
    models = os.path.join(work, "models")  # train steps of make_models.py, made by JAX
    for layers in (2, 4, 8, 24, 48):
        found[f"llama_L{layers}"] = os.path.join(models, f"llama_L{layers}.hlo")
    for file in sorted(os.listdir(os.path.join(corpus, "hlo-text"))):
        if os.path.getsize(os.path.join(corpus, "hlo-text", file)) > 150000:
            found[file] = os.path.join(corpus, "hlo-text", file)
    return found


def xla(peers, path, mode, scheduler, limit, to):
    """Run XLA's compiler up to its buffer assignment and keep the scheduled module as `to`."""
    sys.path.insert(0, peers)
    import xla_pipeline
    with tempfile.TemporaryDirectory() as folder:
        args = argparse.Namespace(mode=mode, limit=limit, scheduler=scheduler, keep=folder)
        xla_pipeline.keep(path, args, 1 if mode != "full" else xla_pipeline.partitions(path))
        made = os.path.join(folder, os.path.basename(path) + ".scheduled.hlo")
        if os.path.exists(made):
            shutil.move(made, to)
    return os.path.exists(to)


def without_schedule(path, to):
    """Also groups that XLA prints as axes of a mesh, which it cannot read: all devices in one group; sizes stay."""
    def group(found):
        n = 1
        for size in re.findall(r"=(\d+)", found[1]):
            n *= int(size)
        return "replica_groups={{" + ",".join(map(str, range(n))) + "}}"
    with open(path) as source, open(to, "w") as out:
        out.write(source.readline().replace(", is_scheduled=true", ""))
        for line in source:
            out.write(re.sub(r"replica_groups=mesh\[([^\]]*)\] ?\{[^}]*\}", group, line) if "=mesh[" in line else line)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--peers", required=True)
    args.add_argument("--corpus", required=True)
    args.add_argument("--out", required=True)
    args.add_argument("--parts", default="plain,flat,fused")
    args.add_argument("--only", default="")
    args.add_argument("--limit", type=float, default=900, help="seconds that one run of XLA may take")
    args = args.parse_args()
    os.makedirs(os.path.join(args.out, "work"), exist_ok=True)
    known = inputs(args.corpus, os.path.join(args.out, "work"))
    for part in args.parts.split(","):
        os.makedirs(os.path.join(args.out, part), exist_ok=True)
        for word in {"plain": PLAIN, "flat": FLAT, "fused": FUSED}[part]:
            if args.only not in word:
                continue
            name = word if word in known else next((n for n in known if word in n), None)
            if name and not os.path.exists(known[name]):
                os.makedirs(os.path.dirname(known[name]), exist_ok=True)
                subprocess.run([sys.executable, os.path.join(args.peers, "make_models.py"), os.path.dirname(known[name]),
                                "--layers", word.removeprefix("llama_L"), "--synthetic", ""], check=False)
            if not name or not os.path.exists(known[name]):
                print(f"{part}\t{word}\tnot in the corpus", flush=True)
                continue
            make(args, part, word, known[name])


def make(args, part, word, path):
    started = time.time()
    work = os.path.join(args.out, "work")
    if part == "fused":
        optimised = os.path.join(work, word + ".optimised.hlo")
        if not os.path.exists(optimised):
            kept = optimised + ".scheduled"
            if xla(args.peers, path, "full", "memory", args.limit, kept):
                without_schedule(kept, optimised)
        path = optimised
    for kind, scheduler in KINDS.items():
        to = os.path.join(args.out, part, f"{word}.{kind}.hlo")
        if os.path.exists(to) or not os.path.exists(path):
            continue
        mode = "only=call-inliner,flatten-call-graph" if part == "flat" else "schedule"
        done = xla(args.peers, path, mode, scheduler, args.limit, to)
        print(f"{part}\t{word}\t{kind}\t{'made' if done else 'failed'}\t{time.time() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
