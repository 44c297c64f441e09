import type { AuditStore } from "../../audit/audit-store.ts";
import type { ReadSource } from "../../read/run-query.ts";
import type { SignerService } from "../../signers/signer-service.ts";
import type { Writes } from "../../writes/rpc.ts";
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
  /** Undefined while writes are off. */
  readonly writes: Writes | undefined;
}
