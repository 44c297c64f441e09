import { CAST_ID_STAGES } from "./cast-ids.ts";
import { CAST_STAGES } from "./casts.ts";
import { indexesOf } from "./indexes.ts";
import { DROP_STAGE, GENERIC_STAGES, TYPED_STAGES } from "./messages.ts";
import { REGISTRY_STAGE } from "./registry.ts";
import { SEARCH_STAGE } from "./search.ts";
import { QUOTE_STAGE, SOCIAL_STAGES } from "./social.ts";
import type { BulkStage } from "./stage.ts";
import { THREAD_STAGES } from "./threads.ts";
import { TOTAL_STAGE } from "./totals.ts";

/** The stages of the build, in their order. */
export const STAGES: readonly BulkStage[] = [
  ...GENERIC_STAGES,
  ...CAST_ID_STAGES,
  ...THREAD_STAGES,
  ...CAST_STAGES,
  ...TYPED_STAGES,
  QUOTE_STAGE,
  indexesOf(15, "casts", "missing_casts", "reactions", "links", "user_data", "messages"),
  DROP_STAGE,
  ...SOCIAL_STAGES,
  REGISTRY_STAGE,
  TOTAL_STAGE,
  SEARCH_STAGE,
];
