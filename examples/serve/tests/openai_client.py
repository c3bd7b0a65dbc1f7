"""The server, asked by OpenAI's client.

    python openai_client.py PROGRAM [--model FILE]

Starts the program, asks it all that it offers, and checks every answer with a validator that knows nothing of
grammask. Needs the packages openai, pydantic and jsonschema.
"""

import json
import subprocess
import sys
from typing import Literal

import jsonschema
import openai
from pydantic import BaseModel, Field

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "maxItems": 3},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}
PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 20},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
NOTHING = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": parameters, "strict": True}}
    for name, parameters in (("get_weather", PARAMETERS), ("get_time", NOTHING))
]
MESSAGES = [{"role": "user", "content": "What is the weather in Oslo for two days?"}]


class Step(BaseModel):
    kind: Literal["add", "remove"]
    amount: int = Field(ge=0, le=9)


class Plan(BaseModel):
    title: str = Field(max_length=30)
    steps: list[Step] = Field(max_length=2)


def models(client, model):
    assert [found.id for found in client.models.list()] == [model]


def free_text(client, model):
    answer = client.chat.completions.create(model=model, messages=MESSAGES, max_tokens=20)
    assert answer.choices[0].finish_reason in ("length", "stop")
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def schema(client, model):
    for seed in range(4):
        answer = client.chat.completions.create(model=model, messages=MESSAGES, response_format=FORMAT, seed=seed)
        jsonschema.validate(json.loads(answer.choices[0].message.content), SCHEMA)
    again = client.chat.completions.create(model=model, messages=MESSAGES, response_format=FORMAT, seed=seed)
    assert again.choices[0].message.content == answer.choices[0].message.content


def json_object(client, model):
    answer = client.chat.completions.create(
        model=model, messages=MESSAGES, response_format={"type": "json_object"}, max_tokens=30
    )
    assert isinstance(json.loads(answer.choices[0].message.content), dict)


def pydantic_type(client, model):
    answer = client.chat.completions.parse(model=model, messages=MESSAGES, response_format=Plan, max_tokens=1000)
    assert isinstance(answer.choices[0].message.parsed, Plan)


def tool_calls(client, model):
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
    named = {"type": "function", "function": {"name": "get_weather"}}
    for choice in ("required", named):
        answer = client.chat.completions.create(
            model=model, messages=MESSAGES, tools=TOOLS, tool_choice=choice, parallel_tool_calls=False
        )
        (call,) = answer.choices[0].message.tool_calls
        assert answer.choices[0].finish_reason == "tool_calls"
        jsonschema.validate(json.loads(call.function.arguments), schemas[call.function.name])
        assert choice == "required" or call.function.name == "get_weather"


def conversation(client, model):
    named = {"type": "function", "function": {"name": "get_weather"}}
    first = client.chat.completions.create(model=model, messages=MESSAGES, tools=TOOLS, tool_choice=named)
    said = first.choices[0].message
    result = {"role": "tool", "tool_call_id": said.tool_calls[0].id, "content": '{"sky": "clear"}'}
    messages = [*MESSAGES, said, result]
    answer = client.chat.completions.create(
        model=model, messages=messages, tools=TOOLS, tool_choice="none", max_tokens=10
    )
    assert answer.choices[0].message.tool_calls is None


def streaming(client, model):
    asked = dict(model=model, messages=MESSAGES, response_format=FORMAT, seed=3)
    whole = client.chat.completions.create(**asked)
    text, reason, usage = "", None, None
    for chunk in client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reason = choice.finish_reason or reason
    assert text == whole.choices[0].message.content
    assert reason == whole.choices[0].finish_reason
    assert usage == whole.usage


def streamed_tool_calls(client, model):
    with client.chat.completions.stream(
        model=model, messages=MESSAGES, tools=TOOLS, tool_choice="required", parallel_tool_calls=False
    ) as stream:
        answer = stream.get_final_completion()
    (call,) = answer.choices[0].message.tool_calls
    json.loads(call.function.arguments)


def leaving(client, model):
    stream = client.chat.completions.create(model=model, messages=MESSAGES, stream=True, max_tokens=4000)
    next(iter(stream))
    stream.close()
    free_text(client, model)


def refused(client, model):
    def status_of(**changes):
        try:
            client.chat.completions.create(**{"model": model, "messages": MESSAGES, **changes})
        except openai.BadRequestError as error:
            return error
        raise AssertionError(f"not refused: {changes}")

    wrong = {"type": "object", "properties": {"a": {"type": "strin"}}}
    error = status_of(response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": wrong}})
    assert error.param == "/response_format/json_schema/schema/properties/a/type", error.param
    assert "strin" in error.message
    status_of(model="another")
    status_of(stop=["x"])
    status_of(n=2)
    status_of(tools=TOOLS, tool_choice={"type": "function", "function": {"name": "unknown"}})


CHECKS = [
    models, free_text, schema, json_object, pydantic_type, tool_calls, conversation, streaming, streamed_tool_calls,
    leaving, refused,
]


def main():
    server = subprocess.Popen([*sys.argv[1:], "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        model, address = server.stdout.readline().strip().rsplit(" at ", 1)
        client = openai.OpenAI(base_url=address, api_key="none", max_retries=0)
        for check in CHECKS:
            check(client, model)
            print(f"{check.__name__}: passes")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
