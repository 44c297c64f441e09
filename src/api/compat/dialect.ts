import { fid, limit, optional, type QueryParams } from "../../http/params.ts";
import { compatPresenters } from "../../read/present/compat/presenters.ts";
import type { Dialect } from "../shared/dialect.ts";
import { responseSchemas } from "./response-schemas.ts";

/** Default page size. */
const DEFAULT_LIMIT = 25;

/** The viewer. If present, objects contain `viewer_context`. */
export const viewerFid = () =>
  optional(fid({ description: "Adds this user's relation to the listed objects" }));

export const pageLimit = () => limit(DEFAULT_LIMIT);

function adapt(query: QueryParams): QueryParams {
  if (Object.keys(query).length === 0) return query;
  return { ...query, ...("limit" in query && { limit: pageLimit() }), viewer_fid: viewerFid() };
}

/** The dialect of the hosted API that most clients in this field are written for. */
export const compatDialect: Dialect = { present: compatPresenters, schemas: responseSchemas, adapt };
