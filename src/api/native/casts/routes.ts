import { Elysia } from "elysia";
import { ApiError } from "../../../http/errors.ts";
import { choice, fid, hashList, optional, text } from "../../../http/params.ts";
import { runQuery } from "../../../read/run-query.ts";
import { respondWithCasts } from "../../shared/cast-page.ts";
import type { ReadDeps } from "../../shared/dialect.ts";
import { castFinder } from "./identifier.ts";

const tags = ["Casts"];

/** `/cast` and `/cast/bulk`. */
export function castRoutes({ reads, describe }: ReadDeps) {
  return new Elysia({ name: "casts" })
    .get(
      "/cast",
      ({ query }) => {
        const find = castFinder(query.identifier, query.type);
        return runQuery(
          reads,
          find,
          (hash) => ({ hashes: hash === undefined ? [] : [hash], viewerFid: query.viewer_fid }),
          (hash, hydration) => {
            const author = hash === undefined ? undefined : hydration.casts.get(hash)?.fid;
            const body = hash === undefined ? undefined : reads.present.cast(hash, hydration);
            if (!body || (query.fid !== undefined && author !== query.fid))
              throw new ApiError("notFound", "no such cast");
            return body;
          },
        );
      },
      describe({
        cache: "shared",
        operationId: "getCast",
        summary: "One cast, by its hash or by its URL in a client",
        tags,
        query: {
          identifier: text({
            description: "A cast hash, or a URL such as https://farcaster.xyz/<username>/0x…",
          }),
          type: optional(choice(["hash", "url"]), "hash"),
          fid: optional(fid({ description: "The author that the cast must have" })),
        },
        response: "cast",
        errors: ["notFound"],
      }),
    )
    .get(
      "/cast/bulk",
      ({ query }) => respondWithCasts(reads, query, query.hashes),
      describe({
        cache: "shared",
        operationId: "getCasts",
        summary: "Casts by hash, in the requested order; unknown casts are omitted",
        tags,
        query: { hashes: hashList({ maxItems: reads.maxIds }) },
        response: "casts",
      }),
    );
}
