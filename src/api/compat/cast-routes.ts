import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { operation } from "../../http/operation.ts";
import { choice, cursor, hashList, optional, text } from "../../http/params.ts";
import { CAST_SORTS, presentBulkCasts, sortCasts } from "../../read/present/compat/cast-lists.ts";
import { castQuotes, castQuotesCursor } from "../../read/queries/casts/cast-quotes.ts";
import { type Reads, runQuery } from "../../read/run-query.ts";
import { castFinder } from "../native/casts/identifier.ts";
import { respondWithCastPage } from "../shared/cast-page.ts";
import { decodeCursor } from "../shared/cursor-param.ts";
import { type Assignable, closed } from "../shared/schemas.ts";
import { pageLimit, viewerFid } from "./dialect.ts";
import { CastPageResponse } from "./response-schemas.ts";
import { Cast } from "./schemas.ts";

const tags = ["Casts"];

const Casts = Type.Object({ casts: Type.Array(Cast) }, closed);
const BulkCastsResponse = Type.Object({ result: Casts }, closed);

export type ObjectTypeCheck = Assignable<
  ReturnType<typeof presentBulkCasts>,
  Static<typeof BulkCastsResponse>
>;

/** `/casts` and `/cast/quotes`. */
export function castLookupRoutes(reads: Reads) {
  return new Elysia({ name: "farcaster-casts" })
    .get(
      "/casts",
      ({ query: { casts: hashes, sort_type: sort, viewer_fid: viewerFid } }) =>
        runQuery(
          reads,
          () => hashes,
          () => ({ hashes, viewerFid }),
          (_, hydration) =>
            presentBulkCasts(sort === undefined ? hashes : sortCasts(hashes, sort, hydration), hydration),
        ),
      operation({
        cache: "shared",
        operationId: "getCastsByHash",
        summary: "Casts by hash, in the requested order or sorted; unknown casts are omitted",
        description:
          "`trending` sorts by the sum of the likes, twice the recasts and three times the replies.",
        tags,
        query: {
          casts: hashList({ maxItems: reads.maxIds }),
          sort_type: optional(choice(CAST_SORTS)),
          viewer_fid: viewerFid(),
        },
        response: BulkCastsResponse,
      }),
    )
    .get(
      "/cast/quotes",
      ({ query }) => {
        const after = decodeCursor(castQuotesCursor, query.cursor);
        const find = castFinder(query.identifier, query.type);
        return respondWithCastPage(reads, query, (db) => {
          const hash = find(db);
          if (hash === undefined) return { rows: [], cursor: null };
          return castQuotes(db, { hash, limit: query.limit, after });
        });
      },
      operation({
        cache: "shared",
        operationId: "getCastQuotes",
        summary: "Casts that quote a cast, newest first",
        tags,
        query: {
          identifier: text({ description: "The quoted cast: its hash, or its URL in a client" }),
          type: optional(choice(["hash", "url"]), "hash"),
          limit: pageLimit(),
          cursor: cursor(),
          viewer_fid: viewerFid(),
        },
        response: CastPageResponse,
      }),
    );
}
