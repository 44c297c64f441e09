import type { ReadSource } from "../../read/run-query.ts";
import type { ManagementParts } from "./management.ts";
import type { PushParts } from "./push.ts";

/** Dependencies of the routes, by the part of the API. */
export interface ApiParts {
  readonly source: ReadSource;
  readonly management: ManagementParts;
  readonly push: PushParts;
}
