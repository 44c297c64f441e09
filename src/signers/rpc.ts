import type { Result } from "../lib/result.ts";
import type { Approvals, PreparedApproval, PreparedOnChain } from "./approval/approvals.ts";
import type { KeyRequestApprovals } from "./approval/key-request-approvals.ts";
import type { SignerRefusal } from "./refusal.ts";
import type { SignerKeys } from "./signer-keys.ts";

/** Services of the thread that owns the vault for other threads. It knows nothing about HTTP. */
export interface SignersRpc {
  createSigner: SignerKeys["create"];
  importSigner: SignerKeys["import"];
  exportSigner: SignerKeys["export"];
  deleteSigner: SignerKeys["delete"];
  viewApproval: Approvals["view"];
  prepareApproval: (
    ...args: Parameters<Approvals["prepare"]>
  ) => Promise<Result<PreparedApproval | PreparedOnChain, SignerRefusal>>;
  submitApproval: Approvals["submit"];
}

/** Implements `SignersRpc` with the services of the thread. */
export function signersRpc(
  keys: SignerKeys,
  approvals: Approvals,
  keyRequests: KeyRequestApprovals,
): SignersRpc {
  return {
    createSigner: keys.create,
    importSigner: keys.import,
    exportSigner: keys.export,
    deleteSigner: keys.delete,
    viewApproval: async (token) => (await keyRequests.view(token)) ?? (await approvals.view(token)),
    prepareApproval: async (...args) =>
      (await keyRequests.prepare(...args)) ?? (await approvals.prepare(...args)),
    submitApproval: async (...args) =>
      (await keyRequests.submit(...args)) ?? (await approvals.submit(...args)),
  };
}
