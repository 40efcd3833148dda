"""The suite's tokenizer for either side of that package's evaluation."""

from typing import Any

from sacrecap.compat.pycocoevalcap.tokenizer import ptbtokenizer


class PTBTokenizer:
    """Cuts captions into tokens: those of references (`gts`), by image, or of candidates (`res`), in a list."""

    def __init__(self, _source: str = "gts") -> None:
        self.source = _source

    def tokenize(self, captions_for_image: Any) -> Any:
        """Tokens, joined by blanks: of `{image id: [{"caption": text}, …]}` as `{image id: [text, …]}`; with `res`, of
        `[{"image_id": …, "caption": text}, …]` as `[{"image_id": …, "caption": [text]}, …]`.
        """
        cut = ptbtokenizer.PTBTokenizer().tokenize
        if self.source == "gts":
            return cut(captions_for_image)
        tokens = cut({number: [sample] for number, sample in enumerate(captions_for_image)})
        return [
            {"image_id": sample["image_id"], "caption": tokens[number]}
            for number, sample in enumerate(captions_for_image)
        ]
