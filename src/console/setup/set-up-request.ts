import { Type } from "@sinclair/typebox";
import { MAX_UPSTREAMS } from "../../config/formats.ts";
import { jsonBodyDecoder } from "../../http/request/body.ts";
import type { SET_UP_SETTINGS } from "./set-up.ts";
import { SET_UP_STEPS } from "./set-up.ts";

const Fid = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
/** Longer lists require `fid_file`. */
const MAX_FIDS = 10_000;
/** Validated with the file of which it becomes a line. */
const Setting = Type.String({ pattern: "^[^\\u0000-\\u001f\\u007f]+$", maxLength: 1024 });
const FilePath = Type.String({ pattern: "^/[^\\u0000-\\u001f\\u007f]+$", maxLength: 1024 });
const Url = Type.String({ pattern: "^https?://[^\\s/?#@]+$", maxLength: 300 });

export const readSetUp = jsonBodyDecoder(
  Type.Object({
    step: Type.Union(SET_UP_STEPS.map((step) => Type.Literal(step))),
    scope: Type.Union([
      Type.Object({ kind: Type.Literal("all") }),
      Type.Object({ kind: Type.Literal("demo") }),
      Type.Object({
        kind: Type.Literal("fids"),
        fids: Type.Array(Fid, { minItems: 1, maxItems: MAX_FIDS }),
      }),
      Type.Object({
        kind: Type.Literal("channel"),
        channel: Type.String({ pattern: "^[^\\s\\u0000-\\u001f]+$", maxLength: 256 }),
      }),
      Type.Object({ kind: Type.Literal("followers"), fid: Fid }),
      Type.Object({ kind: Type.Literal("file"), path: FilePath }),
      Type.Object({ kind: Type.Literal("import"), path: FilePath }),
    ]),
    urls: Type.Array(Url, { maxItems: MAX_UPSTREAMS }),
    settings: Type.Optional(
      Type.Partial(
        Type.Object({
          "service.public_url": Setting,
          "backup.dir": Setting,
          "backup.at": Setting,
        } satisfies Record<(typeof SET_UP_SETTINGS)[number], unknown>),
        { additionalProperties: false },
      ),
    ),
  }),
);
