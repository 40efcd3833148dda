"""Files as projects write them, each with the same captions: what `test_projects_files` reads by value.

The shapes are those of the projects' documentation and code; the captions are made up.
"""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

NUMBERS = ["391895", "522418", "184613", "318219"]
FILES = [f"COCO_val2014_{int(number):012}.jpg" for number in NUMBERS]
VIDEOS = ["video7010", "video7011", "video7012", "video7013"]
POSITIONS = ["1", "2", "3", "4"]
REFERENCES = [
    ["a man on a horse", "a person riding a horse, at dusk"],
    ["a woman is cutting bread", "bread is cut with a knife"],
    ["two dogs run on a beach", "dogs play near the sea"],
    ["a red bus in the street", "a bus is parked by a shop"],
]
CANDIDATES = ["a man rides a horse", "a woman cuts bread", "two dogs run, and play", "a red bus on a road"]


class Case(NamedTuple):
    """A file, and what it holds."""

    part: str
    """`references`, `candidates`, or `both`."""
    content: str | bytes | dict[str, str | bytes]
    """Of the file, or of the files of a folder by name."""
    ids: Sequence[str] = NUMBERS
    """The image ids in it."""
    options: dict[str, Any] = {}  # noqa: RUF012 - a case changes nothing
    """Those of `CaptionFiles`."""
    refused: str = ""
    """A pattern of the message, where the file has to be refused."""
    others: Sequence[str] | None = None
    """The ids in the file of the other part, where they are spelled differently."""
    engines: tuple[str, ...] = ("local", "stream")
    """Which read it."""


def js(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False)


def lines(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(js(row) + "\n" for row in rows)


def table(rows: Sequence[Sequence[object]], sign: str = ",") -> str:
    """CSV or TSV, every field in double quotes that needs them."""

    def field(value: object) -> str:
        text = str(value)
        return '"' + text.replace('"', '""') + '"' if any(one in text for one in (sign, '"', "\n")) else text

    return "".join(sign.join(map(field, row)) + "\n" for row in rows)


def singles(make: Callable[[str, str], Any], ids: Sequence[str] = NUMBERS) -> list[Any]:
    """A row for each candidate."""
    return [make(image, caption) for image, caption in zip(ids, CANDIDATES, strict=True)]


def lists(make: Callable[[str, list[str]], Any], ids: Sequence[str] = NUMBERS) -> list[Any]:
    """A row for each image, with its references."""
    return [make(image, texts) for image, texts in zip(ids, REFERENCES, strict=True)]


def each(make: Callable[[str, str], Any], ids: Sequence[str] = NUMBERS) -> list[Any]:
    """A row for each reference."""
    return [make(image, text) for image, texts in zip(ids, REFERENCES, strict=True) for text in texts]


def both(make: Callable[[str, str, list[str]], Any], ids: Sequence[str] = NUMBERS) -> list[Any]:
    """A row for each image, with its candidate and its references."""
    return [make(*own) for own in zip(ids, CANDIDATES, REFERENCES, strict=True)]


def tar(members: dict[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in members.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def zipped(members: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def parquet(columns: dict[str, list[Any]], kind: str = "parquet") -> bytes:
    """The columns as Parquet, or as a stream of Arrow."""
    import pyarrow
    from pyarrow import parquet as files

    file = io.BytesIO()
    made = pyarrow.table(columns)
    if kind == "parquet":
        files.write_table(made, file)
    else:
        with pyarrow.ipc.new_stream(file, made.schema) as writer:
            writer.write_table(made)
    return file.getvalue()


def user(text: str = "<image>\nDescribe the image.") -> dict[str, Any]:
    return {"role": "user", "content": text}


def completion(text: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"total_tokens": 9},
    }


LANGUAGES = {"de": ["ein Mann", "ein Pferd"], "fr": ["un homme", "un cheval"]}


def in_languages(texts: list[str]) -> dict[str, Any]:
    every = {"en": texts, **LANGUAGES}
    return {name: {"caption": own, "caption/tokenized": own} for name, own in every.items()}


def tokens(text: str) -> list[str]:
    return text.replace(",", "").split()


CASES: dict[str, Case] = {
    # Rows by any name of the id
    **{
        f"rows with {name}, {kind}": Case("candidates", write(singles(lambda i, c, n=name: {n: i, "caption": c})))
        for name in ("image_id", "video_id", "id", "image", "image_path", "cocoid", "imgid", "file_name", "imageId")
        for kind, write in (("JSON", js), ("JSON lines", lines))
    },
    **{
        f"references with {name}, CSV": Case("references", table([[name, "caption"], *each(lambda i, c: [i, c])]))
        for name in ("image_id", "video_id", "id", "image", "image_path", "cocoid", "img_id", "name")
    },
    "numbers as ids": Case("candidates", js(singles(lambda i, c: {"id": int(i), "caption": c}))),
    "an annotation's id beside image_id": Case(
        "references", js([{"id": n, **row} for n, row in enumerate(each(lambda i, c: {"image_id": i, "caption": c}))])
    ),
    "MSR-VTT's numbers beside video_id": Case(
        "candidates", js(singles(lambda i, c: {"id": int(i[5:]), "video_id": i, "caption": c}, VIDEOS)), VIDEOS
    ),
    # Both parts in rows, by any names
    **{
        f"{one} and {other}": Case("both", lines(both(lambda i, c, r, a=one, b=other: {"image_id": i, a: c, b: r})))
        for one, other in (
            ("pred", "gt"),
            ("pred", "gts"),
            ("prediction", "references"),
            ("predictions", "reference"),
            ("response", "labels"),
            ("output", "target"),
            ("predict", "label"),
            ("hypothesis", "ground_truth"),
            ("generated_caption", "answer"),
            ("generated_text", "ground_truths"),
            ("candidate", "references"),
            ("caption", "references"),
            ("pred_caption", "gt_captions"),
            ("model_output", "ground_truth_captions"),
            ("prediction", "captions"),
        )
    },
    "both, candidates in a list of one": Case(
        "both", js(both(lambda i, c, r: {"image_id": i, "predictions": [c], "references": r}))
    ),
    "both as CSV, lists as text": Case(
        "both", table([["video_id", "prediction", "references"], *both(lambda i, c, r: [i, c, str(r)])])
    ),
    "both in columns": Case("both", js({"predictions": CANDIDATES, "references": REFERENCES}), POSITIONS),
    "both in columns, with ids": Case(
        "both", js({"image_id": NUMBERS, "predictions": CANDIDATES, "references": REFERENCES})
    ),
    "both by image": Case("both", js({i: {"prediction": c, "references": r} for i, c, r in both(lambda *o: o)})),
    "both as two mappings, in other orders": Case(
        "both", js({"predictions": dict(reversed(singles(lambda *o: o))), "references": dict(lists(lambda *o: o))})
    ),
    "pycocoevalcap's gts and res": Case(
        "both",
        js(
            {
                "gts": {i: [{"caption": t} for t in r] for i, r in lists(lambda *o: o)},
                "res": {i: [{"caption": c}] for i, c in singles(lambda *o: o)},
            }
        ),
    ),
    "both in columns, plural ids": Case(
        "both", js({"image_ids": NUMBERS, "hypotheses": CANDIDATES, "references": REFERENCES})
    ),
    "both under results": Case(
        "both", js({"model": "m", "results": both(lambda i, c, r: {"id": i, "pred": c, "gt": r})})
    ),
    "only candidates, by their name": Case("candidates", lines(singles(lambda i, c: {"image_id": i, "response": c}))),
    "only references, by their name": Case("references", lines(lists(lambda i, r: {"image_id": i, "gts": r}))),
    # Rows without ids
    "LLaMA-Factory's predictions": Case(
        "both",
        lines([{"prompt": "user\nDescribe", "predict": c, "label": r[0]} for _, c, r in both(lambda *o: o)]),
        POSITIONS,
        {"first": True},
    ),
    "LLaMA-Factory's predictions, columns named": Case(
        "both",
        lines([{"prompt": "user", "predict": c, "label": r[0]} for _, c, r in both(lambda *o: o)]),
        POSITIONS,
        {"first": True, "caption_column": ("predict",), "references_column": ("label",)},
    ),
    "ms-swift's results": Case(
        "both",
        lines(
            both(
                lambda i, c, r: {
                    "response": c,
                    "labels": r[0],
                    "logprobs": None,
                    "messages": [user(), {"role": "assistant", "content": c}],
                }
            )
        ),
        POSITIONS,
        {"first": True},
    ),
    "ms-swift's results with images": Case(
        "both",
        lines(
            both(
                lambda i, c, r: {
                    "response": c,
                    "labels": r[0],
                    "messages": [user(), {"role": "assistant", "content": c}],
                    "images": [{"bytes": None, "path": i}],
                },
                FILES,
            )
        ),
        FILES,
        {"first": True},
    ),
    "candidates without ids": Case("candidates", lines([{"prediction": c} for c in CANDIDATES]), refused="--id-column"),
    # Conversations
    "LLaVA's training": Case(
        "references",
        js(
            lists(
                lambda i, r: {
                    "id": i,
                    "image": f"coco/{i}.jpg",
                    "conversations": [{"from": "human", "value": "<image>"}, {"from": "gpt", "value": r[0]}],
                }
            )
        ),
        options={"first": True},
    ),
    "LLaVA's training, joined by image": Case(
        "references",
        js(
            lists(
                lambda i, r: {
                    "id": i.removesuffix(".jpg")[-6:] + "-x",
                    "image": i,
                    "conversations": [{"from": "human", "value": "<image>"}, {"from": "gpt", "value": r[0]}],
                },
                FILES,
            )
        ),
        FILES,
        {"first": True},
    ),
    "LLaVA's training, several answers": Case(
        "references",
        js(
            lists(
                lambda i, r: {
                    "id": i,
                    "conversations": [{"from": "gpt" if n % 2 else "human", "value": t} for n, t in enumerate(r * 2)],
                }
            )
        ),
        refused="conversations",
    ),
    "LLaVA's training, a path": Case(
        "candidates",
        js(singles(lambda i, c: {"id": i, "conversations": [{"value": t} for t in ("hi", c, "and?", "no")]})),
        options={"caption_column": ("conversations.1.value",)},
    ),
    "LLaVA's answers": Case(
        "candidates",
        lines(
            singles(
                lambda i, c: {"question_id": i, "prompt": "Describe", "text": c, "answer_id": "x", "model_id": "llava"}
            )
        ),
    ),
    "OpenAI's messages": Case(
        "candidates", lines(singles(lambda i, c: {"id": i, "messages": [user(), {"role": "assistant", "content": c}]}))
    ),
    "OpenAI's messages in parts": Case(
        "candidates",
        lines(
            singles(
                lambda i, c: {
                    "id": i,
                    "messages": [
                        {"role": "user", "content": [{"type": "text", "text": "Describe"}]},
                        {"role": "assistant", "content": [{"type": "text", "text": c}]},
                    ],
                }
            )
        ),
    ),
    "ms-swift's training": Case(
        "candidates",
        lines(singles(lambda i, c: {"messages": [user(), {"role": "assistant", "content": c}], "images": [i]}, FILES)),
        FILES,
    ),
    "LLaMA-Factory's alpaca": Case(
        "references",
        js(lists(lambda i, r: {"instruction": "<image>", "input": "", "output": r[0], "images": [i]}, FILES)),
        FILES,
        {"first": True},
    ),
    "Qwen-VL's training": Case(
        "candidates",
        js(
            singles(
                lambda i, c: {
                    "id": i,
                    "conversations": [{"from": "user", "value": "?"}, {"from": "assistant", "value": c}],
                }
            )
        ),
    ),
    "ShareGPT4V": Case(
        "candidates",
        js(
            singles(
                lambda i, c: {
                    "id": i,
                    "image": i,
                    "conversations": [{"from": "human", "value": "?"}, {"from": "gpt", "value": c}],
                },
                FILES,
            )
        ),
        FILES,
    ),
    "OpenAI's batch": Case(
        "candidates",
        lines(
            singles(
                lambda i, c: {
                    "id": "batch_req_1",
                    "custom_id": i,
                    "response": {"status_code": 200, "request_id": "r", "body": completion(c)},
                    "error": None,
                }
            )
        ),
    ),
    "OpenAI's batch of responses": Case(
        "candidates",
        lines(
            singles(
                lambda i, c: {
                    "id": "batch_req_1",
                    "custom_id": i,
                    "response": {
                        "status_code": 200,
                        "body": {
                            "output": [
                                {"type": "reasoning", "summary": []},
                                {"type": "message", "content": [{"type": "output_text", "text": c}]},
                            ]
                        },
                    },
                    "error": None,
                }
            )
        ),
    ),
    "OpenAI's batch with a failure": Case(
        "candidates",
        lines(
            [
                *singles(
                    lambda i, c: {
                        "custom_id": i,
                        "response": {"status_code": 200, "body": completion(c)},
                        "error": None,
                    }
                )[:3],
                {"custom_id": NUMBERS[3], "response": None, "error": {"code": "batch_expired", "message": "late"}},
            ]
        ),
        refused="318219",
    ),
    "Anthropic's batch": Case(
        "candidates",
        lines(
            singles(
                lambda i, c: {
                    "custom_id": i,
                    "result": {"type": "succeeded", "message": {"content": [{"type": "text", "text": c}]}},
                }
            )
        ),
    ),
    "Gemini's batch": Case(
        "candidates",
        lines(
            singles(
                lambda i, c: {
                    "key": i,
                    "response": {"candidates": [{"content": {"parts": [{"text": c}], "role": "model"}}]},
                }
            )
        ),
    ),
    "completions beside ids": Case("candidates", lines(singles(lambda i, c: {"image_id": i, **completion(c)}))),
    # Harnesses
    "lmms-eval": Case(
        "both",
        lines(
            [
                {
                    "doc_id": n,
                    "target": str(r),
                    "filtered_resps": c,
                    "token_counts": [None],
                    "doc_hash": "0",
                    "input": "Provide a caption",
                    **{f"coco_{m}": {"answer": r, "pred": c, "image_id": int(i), "id": n} for m in ("Bleu_4", "CIDEr")},
                }
                for n, (i, c, r) in enumerate(both(lambda *o: o))
            ]
        ),
    ),
    "lmms-eval of 2024": Case(
        "both",
        lines(
            [
                {"doc_id": n, "doc": {"question_id": i}, "target": r, "resps": [[c]], "filtered_resps": [c]}
                for n, (i, c, r) in enumerate(both(lambda *o: o, FILES))
            ]
        ),
        FILES,
    ),
    "VLMEvalKit, TSV": Case(
        "both", table([["index", "question", "answer", "prediction"], *both(lambda i, c, r: [i, "?", str(r), c])], "\t")
    ),
    "VLMEvalKit, CSV with the image": Case(
        "both",
        table(
            [
                ["index", "image", "question", "answer", "prediction"],
                *both(lambda i, c, r: [i, "/9j/" * 400, "?", str(r), c]),
            ]
        ),
    ),
    "VLMEvalKit, JSON": Case(
        "both", js(both(lambda i, c, r: {"index": int(i), "question": "?", "answer": str(r), "prediction": c}))
    ),
    "lmms-lab's COCO": Case(
        "references",
        lines(
            [
                {"question_id": i, "question": "?", "answer": r, "id": n, "license": 3, "file_name": i, "coco_url": "u"}
                for n, (i, r) in enumerate(lists(lambda *o: o, FILES))
            ]
        ),
        FILES,
    ),
    "detailcaps of lmms-eval": Case(
        "both",
        lines(
            both(
                lambda i, c, r: {
                    "image": i,
                    "source": "x",
                    "gt_caption_gpt4o": r[0],
                    "gt_caption_gpt4v": r[1],
                    "generated_text": c,
                }
            )
        ),
    ),
    # Data sets
    "Karpathy": Case(
        "references",
        js(
            {
                "images": [
                    {
                        "split": "test",
                        "cocoid": int(i),
                        "imgid": n,
                        "filename": "x",
                        "sentences": [{"raw": t} for t in r],
                    }
                    for n, (i, r) in enumerate(lists(lambda *o: o))
                ],
                "dataset": "coco",
            }
        ),
    ),
    "Karpathy by file name": Case(
        "references",
        js(
            {
                "images": [
                    {"split": "test", "cocoid": n, "imgid": n, "filename": i, "sentences": [{"raw": t} for t in r]}
                    for n, (i, r) in enumerate(lists(lambda *o: o, FILES))
                ],
                "dataset": "coco",
            }
        ),
        FILES,
    ),
    "Karpathy by imgid": Case(
        "references",
        js(
            {
                "images": [
                    {
                        "split": "test",
                        "cocoid": 9,
                        "imgid": int(i),
                        "filename": "x",
                        "sentences": [{"raw": t} for t in r],
                    }
                    for i, r in lists(lambda *o: o)
                ]
            }
        ),
        options={"id_column": ("imgid",)},
    ),
    "rows with sentences": Case(
        "references",
        js(
            [
                {
                    "filepath": "val",
                    "filename": f,
                    "imgid": n,
                    "split": "test",
                    "sentences": r,
                    "cocoid": int(i),
                    "url": "",
                }
                for n, (i, r, f) in enumerate(zip(NUMBERS, REFERENCES, FILES, strict=True))
            ]
        ),
    ),
    "rows with sentences_raw": Case("references", lines(lists(lambda i, r: {"cocoid": int(i), "sentences_raw": r}))),
    "nested sentences": Case(
        "references",
        lines(
            lists(
                lambda i, r: {
                    "filename": i,
                    "sentences": [{"raw": t, "tokens": tokens(t), "imgid": 1, "sentid": n} for n, t in enumerate(r)],
                },
                FILES,
            )
        ),
        FILES,
    ),
    "nested sentences, Parquet": Case(
        "references",
        parquet(
            {
                "filename": FILES,
                "sentences": [[{"raw": t, "tokens": tokens(t), "sentid": 1} for t in r] for r in REFERENCES],
            }
        ),
        FILES,
    ),
    "a sentence in an object, Parquet": Case(
        "references",
        parquet(
            {
                "cocoid": [int(i) for i, _ in each(lambda *o: o)],
                "sentences": [{"raw": t, "tokens": tokens(t), "imgid": 0} for _, t in each(lambda *o: o)],
            }
        ),
    ),
    "a path of all sentences": Case(
        "references",
        lines(lists(lambda i, r: {"image_id": i, "people": [{"said": t, "who": 1} for t in r]})),
        options={"caption_column": ("people[*].said",)},
    ),
    "a path of all sentences, Parquet": Case(
        "references",
        parquet({"image_id": NUMBERS, "people": [[{"said": t, "who": 1} for t in r] for r in REFERENCES]}),
        options={"caption_column": ("people[*].said",)},
    ),
    "MSR-VTT": Case(
        "references",
        js(
            {
                "info": {"year": "2016"},
                "videos": [{"category": 9, "video_id": v, "id": n, "split": "test"} for n, v in enumerate(VIDEOS)],
                "sentences": each(lambda i, c: {"caption": c, "video_id": i, "sen_id": 1}, VIDEOS),
            }
        ),
        VIDEOS,
    ),
    "MSR-VTT, Parquet": Case(
        "references",
        parquet(
            {
                "video_id": VIDEOS,
                "video": [f"{v}.mp4" for v in VIDEOS],
                "caption": REFERENCES,
                "source": ["MSR-VTT"] * 4,
                "category": [1, 2, 3, 4],
                "id": [7010, 7011, 7012, 7013],
            }
        ),
        VIDEOS,
    ),
    "MSR-VTT, JSFUSION": Case(
        "candidates",
        table([["key", "vid_key", "video_id", "sentence"], *singles(lambda i, c: ["ret0", f"msr{i}", i, c], VIDEOS)]),
        VIDEOS,
    ),
    "MSVD's corpus": Case(
        "references",
        table(
            [
                "VideoID Start End WorkerID Source AnnotationTime Language Description".split(),
                *each(lambda i, c: ["mv89", i, "60", "1", "clean", "2", "English", c]),
                ["mv89", NUMBERS[0], "60", "1", "clean", "2", "German", "ein Mann"],
            ]
        ),
        [f"mv89_{i}_60" for i in NUMBERS],
    ),
    "MSVD's descriptions": Case(
        "references",
        "# Descriptions\n\n" + "".join(each(lambda i, c: f"mv89_{i}_60 {c}\n")),
        [f"mv89_{i}_60" for i in NUMBERS],
    ),
    "YouCook2": Case(
        "references",
        js(
            {
                "database": {
                    i: {
                        "subset": "validation",
                        "recipe_type": "1",
                        "annotations": [{"segment": [n, n + 1], "id": n, "sentence": t} for n, t in enumerate(r)],
                    }
                    for i, r in lists(lambda *o: o)
                }
            }
        ),
        options={"joined": True},
    ),
    "ActivityNet": Case(
        "references",
        js({i: {"duration": 9, "timestamps": [[0, 4], [4, 9]], "sentences": r} for i, r in lists(lambda *o: o)}),
        options={"joined": True},
    ),
    "VATEX": Case("references", js(lists(lambda i, r: {"videoID": i, "enCap": r, "chCap": ["马"]}))),
    "DOCCI": Case(
        "references",
        lines(lists(lambda i, r: {"example_id": i, "split": "test", "image_file": f"{i}.jpg", "description": r[0]})),
        options={"first": True},
    ),
    "ImageInWords": Case(
        "references",
        lines(
            lists(
                lambda i, r: {
                    "image/key": i,
                    "image/url": "u",
                    "IIW": r[0],
                    "IIW-P5B": "other",
                    "iiw-human-sxs-iiw-p5b": {"metrics/Specificity": "1"},
                }
            )
        ),
        options={"first": True},
    ),
    "DetailCaps": Case(
        "references",
        parquet(
            {
                "image": FILES,
                "source": ["coco"] * 4,
                "binary": [b"\xff\xd8"] * 4,
                "GT_Caption_GPT4O": [r[0] for r in REFERENCES],
                "GT_Caption_GPT4V": [r[1] for r in REFERENCES],
                "CogVLM": ["x"] * 4,
                "LLaVA_v15": ["y"] * 4,
            }
        ),
        FILES,
    ),
    "Crossmodal-3600": Case(
        "references",
        lines(lists(lambda i, r: {"image/key": i, "image/locale": "ar", **in_languages(r)})),
        refused=r"en\.caption.*-column",
    ),
    "Crossmodal-3600, a language": Case(
        "references",
        lines(lists(lambda i, r: {"image/key": i, "image/locale": "ar", **in_languages(r)})),
        options={"caption_column": ("en.caption",)},
    ),
    "Localized Narratives": Case(
        "candidates",
        lines(
            singles(
                lambda i, c: {
                    "dataset_id": "mscoco_val2017",
                    "image_id": i,
                    "annotator_id": 93,
                    "caption": c,
                    "timed_caption": [{"utterance": "a", "start_time": 0, "end_time": 1}],
                    "traces": [[{"x": 0.1, "y": 0.2, "t": 0.1}]],
                    "voice_recording": "x.ogg",
                }
            )
        ),
    ),
    "Oscar's predictions": Case(
        "candidates", "".join(singles(lambda i, c: f"{i}\t{js([{'caption': c, 'conf': 0.5}])}\n"))
    ),
    "GIT's references": Case(
        "references", "".join(lists(lambda i, r: f"{i}\t{js([{'caption': t} for t in r])}\n", FILES)), FILES
    ),
    "webdataset": Case(
        "candidates",
        tar(
            {
                name: content
                for i, c in singles(lambda *o: o)
                for name, content in ((f"{i}.jpg", b"\xff\xd8\xff"), (f"{i}.txt", c), (f"{i}.json", js({"caption": c})))
            }
        ),
    ),
    "webdataset, JSON alone": Case(
        "references",
        tar(
            {
                name: content
                for i, r in lists(lambda *o: o)
                for name, content in ((f"shard/{i}.jpg", b"\xff\xd8\xff"), (f"shard/{i}.json", js({"captions": r})))
            }
        ),
        [f"shard/{i}" for i in NUMBERS],
    ),
    "open_clip": Case(
        "candidates",
        table([["filepath", "title"], *singles(lambda i, c: [f"images/{i}", c], FILES)], "\t"),
        [f"images/{i}" for i in FILES],
    ),
    "nocaps as rows": Case(
        "references",
        js(
            {
                "licenses": [],
                "info": {},
                "images": [{"id": int(i), "file_name": "x.jpg", "domain": "near-domain"} for i in NUMBERS],
                "annotations": each(lambda i, c: {"image_id": int(i), "id": 1, "caption": c}),
            }
        ),
    ),
    "Clotho": Case("references", table([["file_name", "caption_1", "caption_2"], *lists(lambda i, r: [i, *r])])),
    "caption1, caption2": Case("references", table([["image", "caption1", "caption2"], *lists(lambda i, r: [i, *r])])),
    "caption 1, caption 2, TSV": Case(
        "references", table([["image", "caption 1", "caption 2"], *lists(lambda i, r: [i, *r])], "\t")
    ),
    "ref_0, ref_1 beside hyp": Case(
        "both", table([["id", "hyp", "ref_0", "ref_1"], *both(lambda i, c, r: [i, c, *r])])
    ),
    "a pattern": Case(
        "references",
        table([["image_id", "human A", "human B", "note"], *lists(lambda i, r: [i, *r, "x"])]),
        options={"caption_column": ("human *",)},
    ),
    "Flickr30k of nlphuji": Case(
        "references",
        parquet(
            {
                "image": [{"bytes": b"\xff", "path": None}] * 4,
                "caption": REFERENCES,
                "sentids": [["0"]] * 4,
                "split": ["test"] * 4,
                "img_id": ["0", "1", "2", "3"],
                "filename": FILES,
            }
        ),
        FILES,
    ),
    "TextCaps": Case(
        "references",
        js({"data": each(lambda i, c: {"image_id": i, "caption_str": c, "reference_strs": ["x"], "image_name": i})}),
    ),
    "AudioCaps": Case(
        "references",
        table([["audiocap_id", "youtube_id", "start_time", "caption"], *each(lambda i, c: ["7", i, "10", c])]),
    ),
    "DCASE": Case("candidates", table([["file_name", "caption_predicted"], *singles(lambda i, c: [i, c])])),
    "COYO-like": Case("candidates", parquet({"id": NUMBERS, "url": ["u"] * 4, "text": CANDIDATES, "width": [1] * 4})),
    # Forms of documents
    "a mapping": Case("references", js(dict(lists(lambda *o: o)))),
    "a mapping in results": Case("candidates", js({"model": "m", "results": dict(singles(lambda *o: o))})),
    "a mapping of captions in objects": Case(
        "candidates", js({i: {"caption": c, "score": 0.5} for i, c in singles(lambda *o: o)})
    ),
    "a mapping of lists in objects": Case("references", js({i: {"captions": r} for i, r in lists(lambda *o: o)})),
    "pycocoevalcap's gts": Case(
        "references", js({i: [{"image_id": int(i), "id": 7, "caption": t} for t in r] for i, r in lists(lambda *o: o)})
    ),
    "rows under data": Case(
        "candidates", js({"version": 1, "data": singles(lambda i, c: {"image_id": i, "caption": c})})
    ),
    "rows under data.items": Case(
        "candidates", js({"data": {"items": singles(lambda i, c: {"image_id": i, "caption": c})}, "args": {"a": [1]}})
    ),
    "rows beside other lists": Case(
        "candidates",
        js({"results": singles(lambda i, c: {"image_id": i, "caption": c}), "models": [{"name": "a"}, {"name": "b"}]}),
    ),
    "two lists of rows": Case(
        "candidates",
        js(
            {
                "greedy": singles(lambda i, c: {"image_id": i, "caption": c}),
                "beam": singles(lambda i, c: {"image_id": i, "caption": c + " too"}),
            }
        ),
        refused="greedy.*beam",
    ),
    "Hub's first rows": Case(
        "candidates",
        js(
            {
                "features": [{"name": "image_id"}, {"name": "caption"}],
                "rows": [
                    {"row_idx": n, "row": row}
                    for n, row in enumerate(singles(lambda i, c: {"image_id": i, "caption": c}))
                ],
            }
        ),
    ),
    "pandas": Case(
        "candidates",
        js(
            {"image_id": dict(zip("0123", NUMBERS, strict=True)), "caption": dict(zip("0123", CANDIDATES, strict=True))}
        ),
    ),
    "pandas, split": Case(
        "candidates",
        js({"columns": ["image_id", "caption"], "index": [0, 1, 2, 3], "data": singles(lambda i, c: [i, c])}),
    ),
    "pandas, index": Case(
        "candidates", js({str(n): row for n, row in enumerate(singles(lambda i, c: {"image_id": i, "caption": c}))})
    ),
    "pandas, table": Case(
        "candidates",
        js(
            {
                "schema": {"fields": [{"name": "index", "type": "integer"}], "pandas_version": "1.4.0"},
                "data": [
                    {"index": n, **row} for n, row in enumerate(singles(lambda i, c: {"image_id": i, "caption": c}))
                ],
            }
        ),
    ),
    "pandas, records with its index": Case(
        "candidates",
        table([["", "image_id", "caption"], *[[n, *row] for n, row in enumerate(singles(lambda *o: [*o]))]]),
    ),
    # Tables
    "CSV without a header": Case("candidates", table(singles(lambda *o: [*o]))),
    "CSV without a header, files": Case("candidates", table(singles(lambda *o: [*o], FILES)), FILES),
    "TSV without a header": Case("references", table(each(lambda *o: [*o]), "\t")),
    "semicolons": Case("candidates", table([["image_id", "caption"], *singles(lambda *o: [*o])], ";")),
    "a list of one as text, CSV": Case(
        "candidates", table([["image_id", "caption"], *singles(lambda i, c: [i, str([c])])])
    ),
    "lists as text, CSV": Case("references", table([["image_id", "captions"], *lists(lambda i, r: [i, str(r)])])),
    "lists as text, JSON": Case("references", js({i: str(r) for i, r in lists(lambda *o: o)})),
    "lists as JSON in text": Case("references", js(lists(lambda i, r: {"image_id": i, "caption": js(r)}))),
    "lists as text, NumPy": Case(
        "references", table([["image", "caption"], *lists(lambda i, r: [i, "[" + "\n ".join(map(repr, r)) + "]"])])
    ),
    "lists as text, two rows": Case("references", table([["video_id", "caption"], *each(lambda i, c: [i, str([c])])])),
    "UTF-16": Case(
        "candidates",
        table([["image_id", "caption"], *singles(lambda *o: [*o])]).encode("utf-16"),
        options={"encoding": "utf-16"},
    ),
    "cp1252, named": Case(
        "candidates",
        table([["image_id", "note", "caption"], *singles(lambda i, c: [i, "café", c])]).encode("cp1252"),
        options={"encoding": "cp1252"},
    ),
    "cp1252": Case(
        "references",
        table([["image_id", "caption"], *each(lambda i, c: [i, c]), [NUMBERS[0], "café"]]).encode("cp1252"),
        refused=r"auto\(encoding=",
    ),
    # Containers
    "zip with one file": Case(
        "candidates", zipped({"results.json": js(singles(lambda i, c: {"image_id": i, "caption": c}))})
    ),
    "zip with two files": Case(
        "candidates", zipped({"a.json": js(dict(singles(lambda *o: o))), "b.json": "{}"}), refused=r"a\.json.*b\.json"
    ),
    "DatasetDict": Case(
        "references",
        {
            "dataset_dict.json": js({"splits": ["train", "test"]}),
            "train/data-00000-of-00001.arrow": parquet({"image_id": ["9"], "captions": [["x", "y"]]}, "arrow"),
            "train/state.json": "{}",
            "train/dataset_info.json": "{}",
            "test/data-00000-of-00001.arrow": parquet({"image_id": NUMBERS, "captions": REFERENCES}, "arrow"),
            "test/state.json": "{}",
            "test/dataset_info.json": "{}",
        },
        options={"split": "test"},
    ),
    "DatasetDict, no split chosen": Case(
        "references",
        {
            "dataset_dict.json": js({"splits": ["train", "test"]}),
            "train/data-00000-of-00001.arrow": parquet({"image_id": ["9"], "captions": [["x", "y"]]}, "arrow"),
            "test/data-00000-of-00001.arrow": parquet({"image_id": NUMBERS, "captions": REFERENCES}, "arrow"),
        },
        refused="test, train.*--split",
    ),
    "Dataset.save_to_disk": Case(
        "references",
        {
            "data-00000-of-00001.arrow": parquet({"image_id": NUMBERS, "captions": REFERENCES}, "arrow"),
            "state.json": "{}",
            "dataset_info.json": "{}",
        },
    ),
    # Ids that are spelled differently
    "file names against numbers": Case(
        "references",
        js(lists(lambda i, r: {"image": f"val2014/{i}", "caption": r}, FILES)),
        [f"val2014/{i}" for i in FILES],
        others=NUMBERS,
    ),
    "numbers against file names": Case("candidates", js(dict(singles(lambda *o: o))), others=FILES),
    "file names against stems": Case(
        "candidates",
        js(dict(singles(lambda i, c: (i.removesuffix(".jpg"), c), FILES))),
        [i.removesuffix(".jpg") for i in FILES],
        others=FILES,
    ),
    "ids that end in other numbers": Case(
        "candidates",
        js(dict(zip(["9", "8", "7", "6"], CANDIDATES, strict=True))),
        ["9", "8", "7", "6"],
        others=FILES,
        refused="same data set",
    ),
    "numbers of different things": Case(
        "candidates",
        js(dict(zip(POSITIONS, CANDIDATES, strict=True))),
        POSITIONS,
        others=["dog-1", "cat-2", "bus-3", "man-4"],
        refused="--image-ids",
    ),
    "numbers with zeros before": Case(
        "candidates", js(dict(zip([f"{int(i):012}" for i in NUMBERS], CANDIDATES, strict=True))), others=NUMBERS
    ),
    "numbers as pandas writes them": Case(
        "candidates", table([["image_id", "caption"], *singles(lambda i, c: [f"{i}.0", c])]), others=NUMBERS
    ),
    # What has to be refused
    "a prompt beside answers": Case(
        "both",
        lines(both(lambda i, c, r: {"image_id": i, "text": "Describe the image.", "response": c})),
        refused="references",
    ),
    "a prompt beside references": Case(
        "candidates",
        lines(lists(lambda i, r: {"image_id": i, "text": "Describe the image.", "references": r})),
        refused="text.*references",
    ),
    "splits under their names": Case(
        "candidates",
        js({"train": [{"id": "7", "caption": "x"}], "val": singles(lambda i, c: {"id": i, "caption": c})}),
        refused="train and val",
    ),
    "images and annotations of videos": Case(
        "references",
        js(
            {
                "images": [{"id": n, "file_name": "x.mp4"} for n in range(4)],
                "annotations": each(lambda i, c: {"id": 1, "video_id": i, "caption": c}),
            }
        ),
    ),
    "columns that differ in capitals": Case(
        "candidates",
        table([["image_id", "caption", "Caption"], *singles(lambda i, c: [i, "a prompt", c])]),
        refused="caption and Caption",
    ),
    "columns that pandas renamed": Case(
        "references",
        table([["image_id", "caption", "caption.1"], *lists(lambda i, r: [i, *r])]),
        refused=r"caption and caption\.1",
    ),
    "an archive of pictures": Case("candidates", tar({"a.jpg": b"\xff\xd8\xff"}), refused="tar without captions"),
    "sounds": Case("candidates", b"RIFF\x00\x00\x00\x00WAVEfmt ", refused="RIFF"),
    "two columns of candidates": Case(
        "candidates",
        js(singles(lambda i, c: {"image_id": i, "prediction": c, "response": c + " again"})),
        refused="prediction.*response.*--caption-column",
    ),
    "two columns of captions": Case(
        "candidates",
        js(singles(lambda i, c: {"image": i, "caption": c, "text": "Describe the image."})),
        refused="caption.*text.*--caption-column",
    ),
    "two columns of captions in COCO's rows": Case(
        "candidates",
        js(singles(lambda i, c: {"image_id": i, "caption": c, "text": "Describe the image."})),
        refused="caption.*text.*--caption-column",
    ),
    "two columns of references": Case(
        "references",
        lines(lists(lambda i, r: {"image_id": i, "references": r, "ground_truth": r[:1]})),
        refused="references.*ground_truth.*--references-column|references.*ground_truth.*--caption-column",
    ),
    "labels beside captions": Case(
        "references",
        js(lists(lambda i, r: {"image_id": i, "captions": r, "label": "dog"})),
        refused="captions.*label|label.*captions",
    ),
    "an unknown column": Case(
        "candidates", js(singles(lambda i, c: {"image_id": i, "words": c})), refused="words.*--caption-column"
    ),
    "an unknown id": Case(
        "candidates", lines(singles(lambda i, c: {"pic": i, "caption": c})), refused="pic.*--id-column"
    ),
    "an unknown id, named": Case(
        "candidates", lines(singles(lambda i, c: {"pic": i, "caption": c})), options={"id_column": ("pic",)}
    ),
    "beams": Case(
        "candidates",
        js(singles(lambda i, c: {"image_id": i, "caption": [c, c + " too"]})),
        refused="captions per image|more than one",
    ),
    "pickle": Case("candidates", b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94.", refused="pickle"),
    "a picture": Case("candidates", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", refused="PNG"),
    "NumPy's file": Case("candidates", b"\x93NUMPY\x01\x00v\x00{'descr'", refused="NumPy"),
    "Visual Genome's regions": Case(
        "references",
        js(
            [
                {"id": n, "regions": [{"region_id": 1, "image_id": n, "phrase": t, "x": 1} for t in r]}
                for n, r in enumerate(REFERENCES)
            ]
        ),
        refused="--caption-column",
    ),
    # Names and objects of harnesses, servers and hubs
    **{
        f"candidates in {name}": Case("candidates", lines(singles(lambda i, c, n=name: {"image_id": i, n: c})))
        for name in ("cap", "gen", "predicted", "pred_response", "completion", "content", "result", "generations")
    },
    **{
        f"rows with {name}": Case("candidates", lines(singles(lambda i, c, n=name: {n: i, "caption": c})))
        for name in ("ytid", "vid_id", "photo_id", "file_id", "record_id", "request_id", "idx", "image_url", "url")
    },
    **{
        f"{name} has the caption": Case("candidates", lines(singles(lambda i, c, m=make: {"image_id": i, **m(c)})))
        for name, make in {
            "output.caption": lambda c: {"output": {"caption": c, "tokens": 5}},
            "prediction of a list": lambda c: {"prediction": [{"caption": c, "score": 0.1}]},
            "vLLM's outputs": lambda c: {"prompt": "?", "outputs": [{"index": 0, "text": c, "finish_reason": "stop"}]},
            "result of a pipeline": lambda c: {"result": [{"generated_text": c}]},
            "completions' choices": lambda c: {"choices": [{"text": c, "index": 0}]},
            "LiteLLM's response": lambda c: {"response": completion(c)},
            "Ollama's message": lambda c: {"model": "m", "message": {"role": "assistant", "content": c}, "done": True},
            "Anthropic's message": lambda c: {"role": "assistant", "content": [{"type": "text", "text": c}]},
            "OpenAI's response": lambda c: {
                "output": [
                    {"type": "reasoning", "summary": []},
                    {"type": "message", "content": [{"type": "output_text", "text": c}]},
                ]
            },
        }.items()
    },
    "Bedrock's batch": Case(
        "candidates",
        lines(
            singles(
                lambda i, c: {
                    "recordId": i,
                    "modelInput": {},
                    "modelOutput": {"content": [{"type": "text", "text": c}]},
                }
            )
        ),
    ),
    "promptfoo's results": Case(
        "candidates",
        js({"results": {"results": singles(lambda i, c: {"vars": {"image_id": i}, "response": {"output": c}})}}),
    ),
    "ms-swift's results, one image in a list": Case(
        "candidates", lines(singles(lambda i, c: {"query": "<image>", "response": c, "images": [i]}, FILES)), FILES
    ),
    "LangSmith's runs": Case(
        "both",
        lines(
            both(
                lambda i, c, r: {
                    "id": f"run-{i}",
                    "inputs": {"image": i},
                    "outputs": {"output": c},
                    "reference_outputs": {"output": r[0]},
                }
            )
        ),
        options={"first": True},
    ),
    "Inspect's log": Case(
        "both", js({"samples": both(lambda i, c, r: {"id": i, "input": "?", "target": r, "output": {"completion": c}})})
    ),
    "OpenCompass's predictions": Case(
        "both", js({i: {"origin_prompt": "?", "prediction": c, "gold": r} for i, c, r in both(lambda *o: o)})
    ),
    "LLaVA-NeXT's answers": Case(
        "both",
        lines(both(lambda i, c, r: {"sample_id": i, "pred_response": c, "gt_response": r[0]})),
        options={"first": True},
    ),
    "objects of both": Case(
        "both", lines(both(lambda i, c, r: {"id": i, "prediction": {"caption": c}, "ground_truth": {"captions": r}}))
    ),
    "gen and gts": Case(
        "both", js({"gen": {i: [c] for i, c, _ in both(lambda *o: o)}, "gts": dict(lists(lambda *o: o))})
    ),
    "completions by image": Case("candidates", js({"completions": dict(singles(lambda *o: o))})),
    "nocaps of lmms-lab": Case(
        "references",
        parquet(
            {"image_id": [int(i) for i in NUMBERS], "annotations_ids": [[1, 2]] * 4, "annotations_captions": REFERENCES}
        ),
    ),
    "captions in structs, Parquet": Case(
        "references",
        parquet({"image_id": NUMBERS, "captions": [[{"caption": t, "by": 1} for t in r] for r in REFERENCES]}),
    ),
    "captions of annotations, Parquet": Case(
        "references",
        parquet({"image_id": NUMBERS, "annotations": [[{"caption": t, "id": 1} for t in r] for r in REFERENCES]}),
    ),
    "a struct of lists, Parquet": Case(
        "references", parquet({"image_id": NUMBERS, "captions": [{"text": r, "id": [1, 2]} for r in REFERENCES]})
    ),
    "webdataset, a line per caption": Case(
        "references", tar({f"{i}.txt": "\n".join(r) + "\n" for i, r in lists(lambda *o: o)})
    ),
    "WavCaps": Case(
        "references",
        js({"data": lists(lambda i, r: {"title": "x", "id": i, "caption": r[0], "audio": "wav", "duration": 1.0})}),
        options={"first": True},
    ),
    "Label Studio's export": Case(
        "references",
        js(
            lists(
                lambda i, r: {
                    "id": len(i),
                    "data": {"image": i},
                    "annotations": [{"result": [{"type": "textarea", "value": {"text": r}}]}],
                }
            )
        ),
    ),
    "images with a caption": Case("candidates", js({"images": singles(lambda i, c: {"id": int(i), "caption": c})})),
    "images with captions": Case(
        "references", js({"images": lists(lambda i, r: {"id": int(i), "file_name": f"{i}.jpg", "captions": r})})
    ),
    "pairs of id and caption": Case("candidates", js(singles(lambda *o: [*o]))),
    "pairs of id and captions": Case("references", js(lists(lambda *o: [*o]))),
}
"""By what they are."""


def written(case: Case, folder: Path) -> Path:
    """The case's file or folder."""
    path = folder / "given"
    if not isinstance(case.content, dict):
        path.write_bytes(case.content.encode() if isinstance(case.content, str) else case.content)
        return path
    for name, content in case.content.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return path
