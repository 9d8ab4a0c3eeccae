#!/usr/bin/env python3
"""Write the field tables of the wire walker (src/formats/proto/wire.h) from proto/hlo.proto.

usage: make_wire.py DESCRIPTOR_SET OUT.h OUT.c

DESCRIPTOR_SET is what `protoc --descriptor_set_out` writes. For each message one struct and one table are written:
`HloInstructionProto` becomes `hilo_wire_instruction`, `hilo_wire_instruction_fields`. The descriptor set is a protobuf itself;
the thirty lines below read the few fields of it that matter, so that the build needs no Python package."""
import re
import sys

# kinds of wire.h by FieldDescriptorProto.type: (singular, repeated)
KINDS = {
    1: ("F64", "FIXED64S"), 2: ("F32", "FIXED32S"), 3: ("I64", "I64S"), 4: ("I64", "I64S"), 5: ("I32", "I32S"),
    8: ("BOOL", "BOOLS"), 9: ("BYTES", "LIST"), 11: ("MESSAGE", "LIST"), 12: ("BYTES", "LIST"), 13: ("U32", "U32S"),
    14: ("I32", "I32S"),
}
# The wire type that writers give a field of this kind; 255: look closer (members of a oneof).
WIRE_TYPES = {"F64": 1, "F32": 5, "I64": 0, "I32": 0, "U32": 0, "BOOL": 0}
C_TYPES = {"F64": "double", "F32": "float", "I64": "int64_t", "I32": "int64_t", "U32": "int64_t", "BOOL": "bool",
           "BYTES": "hilo_str", "MESSAGE": "hilo_str", "FIXED64S": "hilo_str", "FIXED32S": "hilo_str",
           "VARINTS": "hilo_str", "I64S": "hilo_dims", "I32S": "hilo_dims", "U32S": "hilo_dims", "BOOLS": "hilo_dims", "LIST": "hilo_wire_list"}


def fields(data):
    """The fields of one message: (number, value) pairs, value an int or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 2:
            size = varint()
            yield tag >> 3, data[at:at + size]
            at += size
        else:
            raise SystemExit(f"make_wire: wire type {tag & 7} in the descriptor set")


def get(data, number, default=None):
    """The last value of a field."""
    for found, value in fields(data):
        if found == number:
            default = value
    return default


def all_of(data, number):
    return [value for found, value in fields(data) if found == number]


def short(full):
    """`.xla.HloInstructionProto.SliceDimensions` -> `instruction_slice_dimensions`"""
    parts = [re.sub(r"^Hlo(?=.)", "", re.sub(r"Proto$", "", part)) for part in full.split(".")[2:]]
    words = [re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", part).lower() for part in parts]
    return {"hlo": "envelope"}.get("_".join(words), "_".join(words))


def messages(data, prefix):
    name = prefix + "." + get(data, 1).decode()
    yield name, data
    for nested in all_of(data, 3):
        yield from messages(nested, name)


def read(path):
    """[(short name, proto name, [(number, name, kind, message or None, oneof or None)])] in file order."""
    with open(path, "rb") as f:
        file = all_of(f.read(), 1)[0]
    out = []
    for name, data in (pair for top in all_of(file, 4) for pair in messages(top, ".xla")):
        oneofs = [get(o, 1).decode() for o in all_of(data, 8)]
        rows = []
        for field in all_of(data, 2):
            repeated = get(field, 4) == 3
            oneof = get(field, 9)
            kind = KINDS[get(field, 5)][repeated]
            if name == ".xla.LiteralProto" and kind in ("I64S", "I32S", "U32S", "BOOLS"):
                kind = "VARINTS"  # may be huge: converted in place, not listed as int64
            target = short(get(field, 6).decode()) if get(field, 5) == 11 else None
            rows.append((get(field, 3), get(field, 1).decode(), kind, target, None if oneof is None else oneofs[oneof]))
        out.append((short(name), name[5:], sorted(rows)))
    return out


def header(table):
    yield "/* Made from proto/hlo.proto by scripts/make_wire.py. */\n#ifndef HILO_WIRE_TABLES_H\n#define HILO_WIRE_TABLES_H\n"
    yield '#include "formats/proto/wire.h"\n'
    for short_name, name, rows in table:
        yield f"/* {name} */\ntypedef struct {{\n  hilo_wire_head head;"
        for number, field, kind, target, _ in rows:
            of = f" {target}" if target else ""
            yield f"  {C_TYPES[kind]} {field}; /* {number}{of} */"
        for oneof in dict.fromkeys(row[4] for row in rows if row[4]):
            yield f"  uint16_t {oneof}_case; /* number of the member that is set; 0: none */"
        yield f"}} hilo_wire_{short_name};"
        yield f"extern const hilo_wire_message hilo_wire_{short_name}_fields;"
        yield "enum {"
        for number, field, *_ in rows:
            yield f"  HILO_WIRE_{short_name.upper()}_{field.upper()} = {number},"
        yield "};\n"
    yield "#endif"


def source(table):
    yield "/* Made from proto/hlo.proto by scripts/make_wire.py. */\n#include \"formats/hlo_wire.h\"\n"
    for short_name, name, rows in table:
        struct = f"hilo_wire_{short_name}"
        yield f"static const hilo_wire_field {short_name}_rows[] = {{"
        yield '  {"", NULL, 0, 0, 0, HILO_WIRE_LIST, 255},  // what the schema does not have'
        for number, field, kind, target, oneof in rows:
            sub = f"&hilo_wire_{target}_fields" if target else "NULL"
            case = f"offsetof({struct}, {oneof}_case)" if oneof else "0"
            wire = 255 if oneof else WIRE_TYPES.get(kind, 2)
            yield f'  {{"{field}", {sub}, {number}, offsetof({struct}, {field}), {case}, HILO_WIRE_{kind}, {wire}}},'
        yield "};"
        yield f'const hilo_wire_message {struct}_fields = {{"{name}", {short_name}_rows, {len(rows)}, sizeof({struct}), {{'
        index = ", ".join(f"[{row[0]}] = {at}" for at, row in enumerate(rows, 1) if row[0] < 128)
        yield f"  {index}}}}};\n"


def main():
    descriptor_set, out_header, out_source = sys.argv[1:]
    table = read(descriptor_set)
    for path, lines in ((out_header, header(table)), (out_source, source(table))):
        with open(path, "w") as f:
            f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
