"""The tools of an edit in the languages that some peers read: a Python server, a Rust crate's types.

Only what the language has a place for is written. An edit whose two sides come out the same says nothing to the peer that
reads that language, and run.py prints a dash for it instead of an answer.
"""

import json
import keyword


def title(name):
    return "".join(part.capitalize() for part in name.replace(".", "_").split("_"))


def resolved(schema, root):
    reference = schema.get("$ref")
    return root["$defs"][reference.rsplit("/", 1)[1]] if reference else schema


class Python:
    """A FastMCP server: parameters as annotated arguments, objects as models, hints and `_meta` in the decorator."""

    LIMITS = {
        "maxLength": "max_length",
        "minLength": "min_length",
        "minimum": "ge",
        "maximum": "le",
        "maxItems": "max_length",
        "pattern": "pattern",
        "description": "description",
    }
    PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}

    def __init__(self):
        self.models = []

    def type_of(self, schema, name, root):
        if "$ref" in schema:
            return self.type_of(resolved(schema, root), schema["$ref"].rsplit("/", 1)[1], root)
        if "const" in schema:
            return f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return "Literal[" + ", ".join(repr(value) for value in schema["enum"]) + "]"
        for key in ("oneOf", "anyOf"):
            if key in schema:
                parts = (self.type_of(part, f"{name}{i}", root) for i, part in enumerate(schema[key]))
                return " | ".join(parts)
        kind = schema.get("type")
        if isinstance(kind, list):
            return " | ".join(self.type_of({**schema, "type": one}, name, root) for one in kind)
        if kind == "object":
            return self.model(schema, name, root)
        if kind == "array":
            return f"list[{self.type_of(schema['items'], name + 'Item', root)}]"
        return self.PLAIN[kind]

    def member(self, schema, name, root, required, alias=None):
        said = self.type_of(schema, name, root)
        limits = [f"{word}={schema[key]!r}" for key, word in self.LIMITS.items() if key in schema]
        if alias:
            limits.append(f"alias={alias!r}")
        if limits:
            said = f"Annotated[{said}, Field({', '.join(limits)})]"
        if "default" in schema:
            return f"{said} = {schema['default']!r}"
        return said if required else f"{said} | None = None"

    def model(self, schema, name, root):
        required = schema.get("required", [])
        lines = [f"class {name}(BaseModel):"]
        if schema.get("additionalProperties") is False:
            lines.append("    model_config = ConfigDict(extra='forbid')")
        for key, part in schema.get("properties", {}).items():
            word, alias = (key + "_", key) if keyword.iskeyword(key) else (key, None)
            lines.append(f"    {word}: {self.member(part, name + title(key), root, key in required, alias)}")
        self.models.append("\n".join(lines if len(lines) > 1 else [*lines, "    pass"]))
        return name

    def tool(self, tool, number):
        schema = tool["inputSchema"]
        properties, required = schema.get("properties", {}), schema.get("required", [])
        arguments = [
            f"{key}: {self.member(properties[key], title(tool['name']) + title(key), schema, key in required)}"
            for key in sorted(properties, key=lambda key: key not in required)
        ]
        facts = [f"name={tool['name']!r}"]
        if "title" in tool:
            facts.append(f"title={tool['title']!r}")
        if "annotations" in tool:
            hints = ", ".join(f"{key}={value!r}" for key, value in tool["annotations"].items())
            facts.append(f"annotations=ToolAnnotations({hints})")
        if "_meta" in tool:
            facts.append(f"meta={tool['_meta']!r}")
        answer = ""
        if "outputSchema" in tool:
            answer = f" -> {self.type_of(tool['outputSchema'], title(tool['name']) + 'Answer', tool['outputSchema'])}"
        return (
            f"@mcp.tool({', '.join(facts)})\n"
            f"def {tool['name']}{number or ''}({', '.join(arguments)}){answer}:\n"
            f"    {json.dumps(tool['description'], ensure_ascii=False)}\n"
            "    raise NotImplementedError\n"
        )


def to_python(tools):
    writer = Python()
    functions = [writer.tool(tool, number) for number, tool in enumerate(tools)]
    head = (
        "from typing import Annotated, Literal\n\nfrom mcp.server.fastmcp import FastMCP\n"
        "from mcp.types import ToolAnnotations\nfrom pydantic import BaseModel, ConfigDict, Field\n\n"
        'mcp = FastMCP("edits")\n\n\n'
    )
    return head + "\n\n\n".join([*writer.models, *functions])


class Rust:
    """Public types and one function a tool: what a crate that serves these tools would have."""

    PLAIN = {"string": "String", "integer": "i64", "number": "f64", "boolean": "bool", "null": "()"}

    def __init__(self):
        self.items = []

    def type_of(self, schema, name, root):
        if "$ref" in schema:
            return self.type_of(resolved(schema, root), name, root)
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if values:
            return self.enum(name, [title(str(value)) for value in values])
        for key in ("oneOf", "anyOf"):
            if key in schema:
                variants = []
                for i, part in enumerate(schema[key]):
                    tag = next((p["const"] for p in part.get("properties", {}).values() if "const" in p), None)
                    word = title(str(tag or part.get("type") or i))
                    variants.append(f"{word}({self.type_of(part, name + word, root)})")
                return self.enum(name, variants)
        kind = schema.get("type")
        if isinstance(kind, list):
            rest = [one for one in kind if one != "null"]
            return f"Option<{self.type_of({**schema, 'type': rest[0]}, name, root)}>"
        if kind == "object":
            return self.struct(schema, name, root)
        if kind == "array":
            return f"Vec<{self.type_of(schema['items'], name + 'Item', root)}>"
        return self.PLAIN[kind]

    def enum(self, name, variants):
        self.items.append(f"pub enum {name} {{ {', '.join(variants)} }}")
        return name

    def struct(self, schema, name, root):
        lines = []
        for key, part in schema.get("properties", {}).items():
            said = self.type_of(part, name + title(key), root)
            if key not in schema.get("required", []) and not said.startswith("Option<"):
                said = f"Option<{said}>"
            words = part.get("description")
            lines.append((f"    /// {words}\n" if words else "") + f"    pub {key}: {said},")
        self.items.append("\n".join([f"pub struct {name} {{", *lines, "}"]))
        return name

    def tool(self, tool, number):
        name = title(tool["name"]) + str(number or "")
        given = self.type_of(tool["inputSchema"], name + "Input", tool["inputSchema"])
        answer = ""
        if "outputSchema" in tool:
            answer = f" -> {self.type_of(tool['outputSchema'], name + 'Output', tool['outputSchema'])}"
        return f"/// {tool['description']}\npub fn {tool['name']}{number or ''}(_: {given}){answer} {{ unimplemented!() }}"


def to_rust(tools):
    writer = Rust()
    functions = [writer.tool(tool, number) for number, tool in enumerate(tools)]
    return "\n\n".join([*writer.items, *functions]) + "\n"
