import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { choice, fid, hashList, optional, text } from "../../http/params.ts";
import { answer, presentCasts, type Reads } from "../../read/answers.ts";
import { presentCast } from "../../read/present/cast.ts";
import { CastResponse, CastsResponse } from "../objects.ts";
import { castFinder } from "./identifier.ts";

const tags = ["Casts"];

/** `/cast`, `/cast/bulk`, `/casts`. */
export function castRoutes(reads: Reads) {
  return new Elysia({ name: "casts" })
    .get(
      "/cast",
      ({ query }) => {
        const find = castFinder(query.identifier, query.type);
        return {
          cast: answer(
            reads,
            find,
            (hash) => ({ hashes: hash === undefined ? [] : [hash] }),
            (hash, hydration) => {
              const cast = hash === undefined ? undefined : presentCast(hash, hydration);
              if (!cast || (query.fid !== undefined && cast.author.fid !== query.fid))
                throw new ApiError("notFound", "no such cast");
              return cast;
            },
          ),
        };
      },
      operation({
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
        response: CastResponse,
        errors: ["notFound"],
      }),
    )
    .get(
      "/cast/bulk",
      ({ query }) => ({
        casts: answer(
          reads,
          () => query.hashes,
          (hashes) => ({ hashes }),
          presentCasts,
        ),
      }),
      operation({
        operationId: "getCasts",
        summary: "Casts by hash, in the order asked; those that are not there are left out",
        tags,
        query: { hashes: hashList({ maxItems: reads.maxIds }) },
        response: CastsResponse,
      }),
    )
    .get(
      "/casts",
      ({ query }) => ({
        casts: answer(
          reads,
          () => query.casts,
          (hashes) => ({ hashes }),
          presentCasts,
        ),
      }),
      operation({
        operationId: "getCastsAlias",
        summary: "The same as /cast/bulk under another parameter name",
        tags,
        query: { casts: hashList({ maxItems: reads.maxIds }) },
        response: CastsResponse,
      }),
    );
}
