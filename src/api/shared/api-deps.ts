import type { AuditStore } from "../../audit/audit-store.ts";
import type { ReadSource } from "../../read/run-query.ts";
import type { SignerService } from "../../signers/signer-service.ts";
import type { Writes } from "../../writes/rpc.ts";
import type { SeenStore } from "../../writes/seen/seen-store.ts";
import type { PublishDeps } from "../compat/write-routes/routes.ts";
import type { StreamDeps } from "../native/stream/routes.ts";
import type { ManagementDeps } from "./management.ts";
import type { PushDeps } from "./push.ts";

/** Dependencies of the routes, by the part of the API. */
export interface ApiDeps {
  readonly source: ReadSource;
  readonly management: ManagementDeps;
  readonly push: PushDeps;
  readonly signers: SignerService;
  readonly audit: AuditStore;
  readonly stream: Omit<StreamDeps, "maxIds">;
  /** What writes by managed signers need beside those. */
  readonly publish: Pick<PublishDeps, "storedWrites" | "muteLinks"> & { readonly seen: SeenStore };
  /** Undefined while writes are off. */
  readonly writes: Writes | undefined;
}
