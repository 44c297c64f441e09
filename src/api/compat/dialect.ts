import { fid, limit, optional, type QueryParams } from "../../http/params.ts";
import { compatPresenters } from "../../read/present/compat/presenters.ts";
import type { Dialect } from "../shared/dialect.ts";
import { responseSchemas } from "./answers.ts";

/** The size of a page where none is asked for. */
const DEFAULT_LIMIT = 25;

/** For whom objects are shown, which puts `viewer_context` into them. */
export const viewerFid = () => optional(fid({ description: "Shows how this user stands to what is listed" }));

export const pageLimit = () => limit(DEFAULT_LIMIT);

function adapt(query: QueryParams): QueryParams {
  if (Object.keys(query).length === 0) return query;
  return { ...query, ...("limit" in query && { limit: pageLimit() }), viewer_fid: viewerFid() };
}

/** The dialect of the hosted API that most clients of this field are written for. */
export const compatDialect: Dialect = { present: compatPresenters, schemas: responseSchemas, adapt };
