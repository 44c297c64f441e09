import type { Approvals } from "./approval/approvals.ts";
import type { SignerKeys } from "./signer-keys.ts";

/** What the thread that has the vault does for others. It knows nothing of HTTP. */
export interface SignersRpc {
  createSigner: SignerKeys["create"];
  importSigner: SignerKeys["import"];
  exportSigner: SignerKeys["export"];
  deleteSigner: SignerKeys["delete"];
  viewApproval: Approvals["view"];
  prepareApproval: Approvals["prepare"];
  submitApproval: Approvals["submit"];
}

/** The methods of `SignersRpc` over the services of the thread. */
export function signersRpc(keys: SignerKeys, approvals: Approvals): SignersRpc {
  return {
    createSigner: keys.create,
    importSigner: keys.import,
    exportSigner: keys.export,
    deleteSigner: keys.delete,
    viewApproval: approvals.view,
    prepareApproval: approvals.prepare,
    submitApproval: approvals.submit,
  };
}
