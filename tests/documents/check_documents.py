#!/usr/bin/env python3
"""Holds `fairlead validate`, the schemas and the example documents against each other.

usage: check_documents.py PROGRAM [--update]

Runs from the root of the project. Ends with 1 when something differs, and says what.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import yaml

HERE = Path("tests/documents")
SCHEMAS = {kind: json.loads(Path(f"schemas/{kind.lower()}.schema.json").read_text())
           for kind in ("Cluster", "Workload")}
OTHER_SCHEMAS = {kind: json.loads(Path(f"schemas/{kind.lower()}.schema.json").read_text())
                 for kind in ("Scenario", "Share")}
problems = []


def run(program, *arguments, text=None):
    return subprocess.run([program, *arguments], input=text, capture_output=True, text=True, timeout=60)


class Loader(yaml.SafeLoader):
    """YAML 1.2's core schema: dates, yes/no and 1:30 are text."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers
            if tag.rsplit(":", 1)[1] in ("int", "float", "null", "merge")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))


def roots(path):
    return [root for root in yaml.load_all(path.read_text(), Loader) if root is not None]


def validator_of(kind):
    """What a schema takes from the cluster's is put into it, so that nothing has to be looked up."""
    text = json.dumps((SCHEMAS | OTHER_SCHEMAS)[kind]).replace("cluster.schema.json#", "#")
    schema = json.loads(text)
    schema["$defs"] = SCHEMAS["Cluster"]["$defs"] | schema["$defs"]
    return jsonschema.Draft202012Validator(schema)


def check_accepted(program, path):
    result = run(program, "validate", str(path))
    if result.returncode != 0:
        problems.append(f"{path}: refused\n{result.stderr}")
    for root in roots(path) if path.suffix != ".scn" else []:
        for error in validator_of(root["kind"]).iter_errors(root):
            problems.append(f"{path}: against the schema at {error.json_path}: {error.message[:500]}")


def check_valid(program):
    for path in sorted((HERE / "valid").iterdir()):
        check_accepted(program, path)
    for path in sorted(Path("tests/scenarios").rglob("*")):
        if path.suffix in (".yaml", ".json"):
            check_accepted(program, path)


def check_invalid(program, update):
    for path in sorted((HERE / "invalid").iterdir()):
        if path.suffix == ".expected":
            continue
        result = run(program, "validate", str(path))
        if result.returncode != 2:
            problems.append(f"{path}: exit status {result.returncode}, expected 2")
        if result.stdout:
            problems.append(f"{path}: prints to standard output: {result.stdout}")
        expected = path.with_name(path.name + ".expected")
        if update:
            expected.write_text(result.stderr)
        elif not expected.exists() or expected.read_text() != result.stderr:
            problems.append(f"{path}: expected\n{expected.read_text() if expected.exists() else ''}"
                            f"is\n{result.stderr}")


def check_schemas():
    """Shared definitions are the same, and each is a schema."""
    for kind, schema in (SCHEMAS | OTHER_SCHEMAS).items():
        jsonschema.Draft202012Validator.check_schema(schema)
    for name, definition in SCHEMAS["Workload"]["$defs"].items():
        if SCHEMAS["Cluster"]["$defs"].get(name) != definition:
            problems.append(f"schemas: $defs/{name} differs between cluster and workload")
    document = SCHEMAS["Workload"]["properties"]
    if document != SCHEMAS["Cluster"]["$defs"]["workload"]["properties"]:
        problems.append("schemas: a workload differs between cluster and workload")


def check_coverage():
    """Every field that the schemas know is used by a valid document."""
    def properties(schema):
        if isinstance(schema, dict):
            for key, value in schema.items():
                if key == "properties":
                    yield from value
                yield from properties(value)
        elif isinstance(schema, list):
            for value in schema:
                yield from properties(value)

    def keys(value):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield key
                yield from keys(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from keys(inner)

    used = {key for path in (HERE / "valid").iterdir() if path.suffix != ".scn"
            for root in roots(path) if root["kind"] in SCHEMAS for key in keys(root)}
    for name in sorted(set(properties(SCHEMAS["Cluster"])) - used):
        problems.append(f"schemas: the field {name} is in no valid document")


# An unknown field in one object of each kind: where the reader finds it, and where the schema says
# what is allowed there.
PROBE = """
{"apiVersion": "fairlead/v1", "kind": "Cluster", "zzz": 1,
 "deviceClasses": [{"name": "c", "memory": "1Gi", "zzz": 1, "mig": {"computeSlices": 1,
   "memorySlices": 1, "zzz": 1, "profiles": [{"name": "p", "computeSlices": 1, "memorySlices": 1,
   "memory": "1Gi", "starts": [0], "zzz": 1}]}}],
 "pools": [{"name": "p", "zzz": 1, "strategy": {"zzz": 1}, "usage": {"zzz": 1},
   "aging": {"interval": 1, "max": 1, "zzz": 1}}],
 "nodes": [{"name": "n", "zzz": 1, "gpus": [{"class": "T4", "zzz": 1}],
   "taints": [{"key": "k", "zzz": 1}]}],
 "queues": [{"name": "q", "zzz": 1, "pools": {"p": {"zzz": 1}}, "budget": {"cost": 1, "zzz": 1}}],
 "workloads": [{"name": "w", "queue": "q", "zzz": 1, "topology": {"zzz": 1},
   "running": [{"role": "r", "node": "n", "zzz": 1}],
   "roles": [{"name": "r", "zzz": 1, "segments": {"size": 1, "within": "host", "zzz": 1},
     "gpu": {"portion": 0.5, "zzz": 1}, "affinity": [{"key": "k", "values": ["v"], "zzz": 1}],
     "tolerations": [{"key": "k", "zzz": 1}]}]}]}
"""
KINDS = {
    "": "", "deviceClasses[0]": "deviceClass", "deviceClasses[0].mig": "deviceClass.mig",
    "deviceClasses[0].mig.profiles[0]": "deviceClass.mig.profiles", "pools[0]": "pool",
    "pools[0].strategy": "pool.strategy", "pools[0].usage": "pool.usage", "pools[0].aging": "pool.aging",
    "nodes[0]": "node", "nodes[0].gpus[0]": "device", "nodes[0].taints[0]": "node.taints",
    "queues[0]": "queue", "queues[0].pools.p": "entitlements", "queues[0].budget": "budget",
    "workloads[0]": "workload", "workloads[0].topology": "goal", "workloads[0].running[0]": "running",
    "workloads[0].roles[0]": "role", "workloads[0].roles[0].segments": "segments",
    "workloads[0].roles[0].gpu": "gpu", "workloads[0].roles[0].affinity[0]": "match",
    "workloads[0].roles[0].tolerations[0]": "toleration",
}


def fields_of(schema):
    """The fields of an object schema, of all its alternatives together."""
    fields = set(schema.get("properties", {}))
    for alternative in schema.get("oneOf", []):
        fields |= set(alternative.get("properties", {}))
    return fields


def schema_at(kind):
    steps = kind.split(".") if kind else []
    schema = SCHEMAS["Cluster"]["$defs"][steps[0]] if steps else SCHEMAS["Cluster"]
    for step in steps[1:]:
        for candidate in (schema, *schema.get("oneOf", [])):
            if step in candidate.get("properties", {}):
                schema = candidate["properties"][step]
                break
        schema = schema.get("items", schema)
    return schema


def check_fields(program):
    result = json.loads(run(program, "validate", "-o", "json", "-", text=PROBE).stdout)
    told = {}
    for error in result["files"][0]["errors"]:
        allowed = re.search(r"allowed are (.*)$", error["message"])
        if error["field"].endswith("zzz") and allowed:
            told[error["field"][:-3].rstrip(".")] = set(re.split(r", | or ", allowed.group(1)))
    for path, kind in KINDS.items():
        reader, schema = told.get(path, set()), fields_of(schema_at(kind))
        if reader != schema:
            problems.append(f"{path or 'Cluster'}: only the reader knows {sorted(reader - schema)}, "
                            f"only the schema {sorted(schema - reader)}")


def main(arguments):
    if not arguments:
        print(__doc__)
        return 2
    program = arguments[0]
    check_schemas()
    check_valid(program)
    check_invalid(program, "--update" in arguments)
    check_coverage()
    check_fields(program)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} to mend")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
