"""More files as projects write them: submissions, training sets, tables of people. See `projects_files`."""

from __future__ import annotations

import gzip
import io
from typing import Any

from projects_files import (
    CANDIDATES,
    FILES,
    NUMBERS,
    POSITIONS,
    REFERENCES,
    VIDEOS,
    Case,
    both,
    each,
    js,
    lines,
    lists,
    parquet,
    singles,
    table,
    tar,
    zipped,
)


def spreadsheet(rows: list[list[Any]]) -> bytes:
    from openpyxl import Workbook

    book, file = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


def bars(rows: list[list[str]]) -> str:
    """A table of Markdown."""
    head, *others = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *others]) + "\n"


URLS = [f"https://example.org/{number}.jpg" for number in NUMBERS]
TWO = [f"{one} ||| {other}" for one, other in REFERENCES]
"""The references of each image in one text."""
TV = [f"show_s01e0{number}_seg02" for number in range(4)]

MORE: dict[str, Case] = {
    # Submissions and results
    "MSR-VTT's challenge": Case(
        "candidates",
        js({"version": "VERSION 1.0", "result": singles(lambda i, c: {"video_id": i, "caption": c}, VIDEOS),
            "external_data": {"used": "true", "details": "none"}}),
        VIDEOS,
    ),
    "VATEX's challenge": Case("candidates", js(dict(singles(lambda *o: o, VIDEOS))), VIDEOS),
    "BLIP-2 of LAVIS": Case(
        "candidates", js(singles(lambda i, c: {"caption": c, "image_id": int(i), "instance_id": "7"}))
    ),
    "nocaps' server": Case(
        "candidates", js(singles(lambda i, c: {"image_id": int(i), "caption": c, "open_images_id": "0013ea2087020901"}))
    ),
    "TVC's predictions": Case(
        "candidates",
        lines(singles(lambda i, c: {"vid_name": "s01", "clip_id": i, "ts": [1.5, 9.25], "descs": [{"desc": c}]}, TV)),
        TV,
        {"caption_column": "descs[*].desc"},
    ),
    "TVC's captions": Case(
        "references",
        lines(lists(lambda i, r: {"vid_name": "s01", "duration": 60.5, "ts": [1.5, 9.25], "clip_id": i,
                                  "descs": [{"desc_id": n, "desc": t, "type": "v"} for n, t in enumerate(r)]}, TV)),
        TV,
        {"caption_column": "descs[*].desc"},
    ),
    "SwinBERT's predictions": Case(
        "candidates", table(singles(lambda i, c: [i, js([{"caption": c, "conf": 0.81}])], VIDEOS), "\t"), VIDEOS
    ),
    "Video-ChatGPT's": Case(
        "both",
        js(both(lambda i, c, r: {"id": i, "question": "What is it?", "answer": r, "pred": c}, VIDEOS)),
        VIDEOS,
    ),
    "MLVU's": Case(
        "both",
        js(both(lambda i, c, r: {"video_name": f"{i}.mp4", "Q": "Describe it.", "A": r[0], "pred": c}, VIDEOS)),
        [f"{one}.mp4" for one in VIDEOS],
        {"references_column": "A", "first": True},
    ),
    "PLLaVA's results": Case(
        "both",
        js({"acc_dict": {}, "result_list": both(lambda i, c, r: {"video_path": i, "pred": c, "gt": r[0]}, VIDEOS)}),
        VIDEOS,
        {"first": True},
    ),
    "mmpretrain's": Case("both", js(both(lambda i, c, r: {"image_id": i, "pred_caption": c, "gt_caption": r}))),
    "an image-to-text pipeline's, beside images": Case(
        "candidates", js(singles(lambda i, c: {"image": i, "caption": [{"generated_text": c}]}, FILES)), FILES
    ),
    "an image-to-text pipeline's": Case(
        "candidates", js([[{"generated_text": c}] for c in CANDIDATES]), POSITIONS
    ),
    "text-generation-inference": Case(
        "candidates",
        lines(singles(lambda i, c: {"image_id": i, "inputs": "![](u)Describe", "generated_text": c, "details": {}})),
    ),
    "SGLang": Case(
        "candidates", lines(singles(lambda i, c: {"image_id": i, "text": c, "meta_info": {"id": "a1", "e2e": 1.2}}))
    ),
    "Mistral's batch": Case(
        "candidates",
        lines(singles(lambda i, c: {"id": "b", "custom_id": i, "error": None, "response": {
            "status_code": 200, "body": {"id": "x", "object": "chat.completion", "model": "pixtral",
                                         "choices": [{"index": 0, "message": {"role": "assistant", "content": c}}]}}})),
    ),
    "Qwen3-VL's training": Case(
        "candidates",
        js(singles(lambda i, c: {"id": i, "messages": [
            {"role": "user", "content": [{"type": "image", "image": "file:///x.jpg"}, {"type": "text", "text": "?"}]},
            {"role": "assistant", "content": [{"type": "text", "text": c}]}]})),
    ),
    "InternVL's training": Case(
        "candidates",
        lines(singles(lambda i, c: {"id": 3, "image": i, "width": 6, "height": 4, "conversations": [
            {"from": "human", "value": "<image>\nDescribe."}, {"from": "gpt", "value": c}]}, FILES)),
        FILES,
    ),
    "VLMEvalKit's spreadsheet": Case(
        "both",
        spreadsheet([["index", "question", "answer", "category", "prediction"],
                     *both(lambda i, c, r: [int(i), "Describe it.", str(r), "coco", c])]),
    ),
    "beams beside the best": Case(
        "candidates", lines(singles(lambda i, c: {"image_id": i, "caption": c, "beams": [c, "a thing"]}))
    ),
    "scores beside captions": Case(
        "candidates", table([["image_id", "caption", "CLIPScore", "logprob"], *singles(lambda i, c: [i, c, 0.7, -3.2])])
    ),
    # Data sets
    "InternVL's Flickr30k": Case(
        "references",
        js({"images": [{"id": n, "image": f"{n}.jpg"} for n in NUMBERS],
            "annotations": each(lambda i, t: {"image_id": i, "caption": t, "id": 0})}),
    ),
    "retrieval_annotations": Case(
        "references", "image, caption\n" + "".join(f"{i}, {t}\n" for i, t in each(lambda *o: o, FILES)), FILES,
        refused="double quotes",
    ),
    "STAIR": Case(
        "references",
        js({"images": [{"id": int(n), "flickr_url": "u"} for n in NUMBERS],
            "annotations": each(lambda i, t: {"image_id": int(i), "id": 1, "caption": t, "tokenized_caption": t})}),
    ),
    "VizWiz": Case(
        "references",
        js({"info": {}, "images": [{"file_name": "V.jpg", "id": int(n), "text_detected": True} for n in NUMBERS],
            "annotations": each(lambda i, t: {"caption": t, "image_id": int(i), "is_precanned": False, "id": 2})}),
    ),
    "RedCaps": Case(
        "candidates",
        js({"info": {"url": "u"}, "annotations": singles(
            lambda i, c: {"image_id": i, "author": "a", "url": "u", "raw_caption": "A!", "caption": c, "score": 7})}),
    ),
    "RSICD": Case(
        "references",
        js({"dataset": "rsicd", "images": lists(lambda i, r: {
            "filename": i, "imgid": 3, "split": "test", "sentids": [0, 1],
            "sentences": [{"tokens": t.split(), "raw": t, "imgid": 3, "sentid": n} for n, t in enumerate(r)]}, FILES)}),
        FILES,
    ),
    "Panda-70M": Case(
        "references",
        table([["videoID", "url", "timestamp", "caption", "matching_score"],
               *lists(lambda i, r: [i, "u", "[['0:00', '0:09']]", str(r), "[0.4, 0.3]"], VIDEOS)]),
        VIDEOS,
    ),
    "WebVid": Case(
        "candidates",
        table([["videoid", "contentUrl", "duration", "page_dir", "name"],
               *singles(lambda i, c: [i, "u", "PT00H00M09S", "p", c])]),
        refused="caption",
    ),
    "WebVid, columns named": Case(
        "candidates",
        table([["videoid", "contentUrl", "duration", "page_dir", "name"],
               *singles(lambda i, c: [i, "u", "PT00H00M09S", "p", c])]),
        NUMBERS,
        {"id_column": "videoid", "caption_column": "name"},
    ),
    "Conceptual Captions": Case(
        "candidates", table([[c, u] for c, u in zip(CANDIDATES, URLS, strict=True)], "\t"), URLS, refused="sacrecap"
    ),
    "Conceptual 12M": Case("candidates", table(singles(lambda *o: [*o], URLS), "\t"), URLS),
    "SBU": Case("candidates", js({"image_urls": URLS, "user_ids": ["u"] * 4, "captions": CANDIDATES}), URLS),
    "img2dataset": Case(
        "candidates",
        parquet({"url": URLS, "caption": CANDIDATES, "key": NUMBERS, "status": ["success"] * 4, "width": [6] * 4,
                 "error_message": [None] * 4, "exif": ["{}"] * 4, "sha256": ["f"] * 4}),
    ),
    "PixelProse": Case(
        "candidates",
        parquet({"uid": NUMBERS, "url": URLS, "original_caption": ["x"] * 4, "vlm_caption": CANDIDATES}),
        refused="vlm_caption.*--caption-column",
    ),
    "PixelProse, a column named": Case(
        "candidates",
        parquet({"uid": NUMBERS, "url": URLS, "original_caption": ["x"] * 4, "vlm_caption": CANDIDATES}),
        NUMBERS,
        {"caption_column": "vlm_caption", "id_column": "uid"},
    ),
    "MusicCaps": Case(
        "candidates",
        table([["ytid", "start_s", "end_s", "audioset_positive_labels", "aspect_list", "caption", "author_id"],
               *singles(lambda i, c: [i, 30, 40, "/m/02p0sh1", "['slow', 'sad']", c, 4], VIDEOS)]),
        VIDEOS,
    ),
    "Song Describer": Case(
        "references",
        table([["caption_id", "track_id", "caption", "is_valid_subset", "path", "duration"],
               *each(lambda i, t: [9, i, t, True, "69/1.mp3", 120.5])]),
        NUMBERS,
        {"id_column": "track_id"},
    ),
    "MACS as JSON": Case(
        "references",
        js({"files": lists(lambda i, r: {"filename": i, "annotations": [
            {"annotator_id": n, "sentence": t, "tags": ["birds"]} for n, t in enumerate(r)]}, FILES)}),
        FILES,
    ),
    "R2Gen": Case(
        "references",
        js({"train": lists(lambda i, r: {"id": f"t{i}", "report": "x", "image_path": ["0.png"], "split": "train"}),
            "test": lists(lambda i, r: {"id": i, "report": " ".join(r), "image_path": ["0.png"], "split": "test"})}),
        refused="sacrecap",
    ),
    "Visual Storytelling": Case(
        "references",
        js({"images": [], "annotations": [[{"photo_flickr_id": i, "storylet_id": "4", "text": t}] for i, t in
                                          each(lambda *o: o)]}),
        refused="sacrecap",
    ),
    "Flickr8k-CN": Case(
        "references", "".join(f"{i}#zhb#{n % 2} {t}\n" for n, (i, t) in enumerate(each(lambda *o: o, FILES))), FILES,
        refused="sacrecap",
    ),
    "Artpedia": Case(
        "references",
        js({i: {"title": "T", "year": 1650, "visual_sentences": r, "contextual_sentences": ["It is old."]}
            for i, r in lists(lambda *o: o)}),
        refused="visual_sentences",
    ),
    "Artpedia, a column named": Case(
        "references",
        js({i: {"title": "T", "year": 1650, "visual_sentences": r, "contextual_sentences": ["It is old."]}
            for i, r in lists(lambda *o: o)}),
        NUMBERS,
        {"caption_column": "visual_sentences"},
    ),
    # Several captions in one text
    "bars between references": Case(
        "references", table([["image_id", "caption"], *zip(NUMBERS, TWO, strict=True)]), refused=r"auto\(separator=\|"
    ),
    "bars between references, cut": Case(
        "references", table([["image_id", "caption"], *zip(NUMBERS, TWO, strict=True)]), NUMBERS, {"separator": "|||"}
    ),
    "bars between references, JSON": Case(
        "references", js(dict(zip(NUMBERS, TWO, strict=True))), refused=r"auto\(separator=none\)"
    ),
    "bars between references, JSON, cut": Case(
        "references", js(dict(zip(NUMBERS, TWO, strict=True))), NUMBERS, {"separator": "|||"}
    ),
    "bars between references, Parquet": Case(
        "references", parquet({"image_id": NUMBERS, "captions": [[one] for one in TWO]}), NUMBERS, {"separator": "|||"}
    ),
    "bars between references in both": Case(
        "both",
        lines(both(lambda i, c, r: {"id": i, "prediction": c, "references": " ||| ".join(r)})),
        NUMBERS,
        {"separator": "|||"},
    ),
    "bars between candidates": Case(
        "candidates", lines(singles(lambda i, c: {"image_id": i, "caption": f"{c} ||| {c}"})), refused="separator"
    ),
    "bars between candidates, cut": Case(
        "candidates",
        lines(singles(lambda i, c: {"image_id": i, "caption": f"{c} ||| {c}"})),
        NUMBERS,
        {"separator": "|||"},
        refused="one candidate|candidates have one",
    ),
    "slashes between references": Case(
        "references", table([["image_id", "caption"], *lists(lambda i, r: [i, " / ".join(r)])]), NUMBERS,
        {"separator": "/"},
    ),
    # Tables of people
    "Markdown": Case("candidates", bars([["image_id", "caption"], *singles(lambda *o: [*o])])),
    "Markdown, references": Case(
        "references", bars([["image_id", "caption 1", "caption 2"], *lists(lambda i, r: [i, *r])])
    ),
    "YAML": Case("candidates", "".join(f"{i}: {c}\n" for i, c in singles(lambda *o: o)), refused="sacrecap"),
    "lines of a video and its caption": Case(
        "candidates", "".join(f"{i}.mp4: {c}\n" for i, c in singles(lambda *o: o, VIDEOS)), refused="sacrecap"
    ),
    "text, line by line": Case(
        "references", "".join("\t".join(own) + "\n" for own in REFERENCES), POSITIONS, {"reference_format": "text"}
    ),
    "text, candidates": Case("candidates", "\n".join(CANDIDATES) + "\n", POSITIONS, {"candidate_format": "text"}),
    "text, nothing said": Case("candidates", "\n".join(CANDIDATES) + "\n", POSITIONS, refused="format text"),
    "CSV with CRLF and a mark": Case(
        "candidates", ("\ufeff" + table([["image_id", "caption"], *singles(lambda *o: [*o])])).replace("\n", "\r\n")
    ),
    "CSV with an empty line at its end": Case(
        "candidates", table([["image_id", "caption"], *singles(lambda *o: [*o])]) + "\n\n"
    ),
    "CSV with an empty column": Case(
        "candidates", table([["image_id", "caption", ""], *singles(lambda i, c: [i, c, ""])])
    ),
    "CSV, every field in quotes": Case(
        "candidates",
        "\n".join('"' + '","'.join(row) + '"' for row in [["image_id", "caption"], *singles(lambda *o: [*o])]) + "\n",
    ),
    "UTF-16, TSV": Case(
        "candidates", table([["image_id", "caption"], *singles(lambda *o: [*o])], "\t").encode("utf-16"), NUMBERS,
        {"encoding": "utf-16"},
    ),
    "GB 18030": Case(
        "candidates",
        table([["image_id", "caption", "译文"], *singles(lambda i, c: [i, c, "红色的车"])]).encode("gb18030"),
        NUMBERS,
        {"encoding": "gb18030"},
    ),
    "a spreadsheet": Case(
        "references", spreadsheet([["Image", "Caption 1", "Caption 2"], *lists(lambda i, r: [i, *r], FILES)]), FILES
    ),
    "gzip": Case("candidates", gzip.compress(lines(singles(lambda i, c: {"image_id": i, "caption": c})).encode())),
    "gzip around a list": Case(
        "candidates", gzip.compress(js(singles(lambda i, c: {"image_id": i, "caption": c})).encode())
    ),
    "zip with CSV": Case(
        "candidates", zipped({"out/results.csv": table([["image_id", "caption"], *singles(lambda *o: [*o])])})
    ),
    "gzip around webdataset": Case(
        "references",
        gzip.compress(tar({f"{i}.json": js({"captions": r}) for i, r in lists(lambda *o: o)})),
    ),
    "a split of rows": Case(
        "references",
        lines([{"image_id": i, "captions": r, "split": "test"} for i, r in lists(lambda *o: o)]
              + [{"image_id": "9", "captions": ["a cat"], "split": "train"}]),
        NUMBERS,
        {"split": "test"},
    ),
    "folders before numbers, the number": Case(
        "candidates",
        js(singles(lambda i, c: {"image_id": f"val2014/{i}", "caption": c}, FILES)),
        NUMBERS,
        {"image_ids": "number"},
        others=NUMBERS,
    ),
    "a candidate too many": Case(
        "candidates",
        lines([*singles(lambda i, c: {"image_id": i, "caption": c}), {"image_id": "9", "caption": "a cat"}]),
        refused="--on-extra",
    ),
    "a candidate too many, left out": Case(
        "candidates",
        lines([*singles(lambda i, c: {"image_id": i, "caption": c}), {"image_id": "9", "caption": "a cat"}]),
        NUMBERS,
        {"on_extra": "skip"},
    ),
    "two candidates, the first": Case(
        "candidates",
        lines([*singles(lambda i, c: {"image_id": i, "caption": c}), {"image_id": NUMBERS[1], "caption": "a cat"}]),
        NUMBERS,
        {"on_duplicate": "first"},
    ),
    "two candidates, the last": Case(
        "candidates",
        lines([{"image_id": NUMBERS[1], "caption": "a cat"}, *singles(lambda i, c: {"image_id": i, "caption": c})]),
        NUMBERS,
        {"on_duplicate": "last"},
    ),
    "OpenDocument": Case(
        "candidates",
        zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<x/>"}),
        refused="zip of 2 files",
    ),
}  # fmt: skip
