import { DEMO_REGISTRAR, type Registrar, registrarOf } from "../../../protocol/channels/follow-uri.ts";
import type { IndexDatabase } from "../database.ts";
import { isDemo, networkOfIndex } from "../identity.ts";

/** Returns the registrar of an index's network; undefined if it has none. The demo network has one on every network. */
export function registrarOfIndex(db: IndexDatabase): Registrar | undefined {
  return registrarOf(networkOfIndex(db)) ?? (isDemo(db) ? DEMO_REGISTRAR : undefined);
}
