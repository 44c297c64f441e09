import { request } from "../data/request.ts";

/** What a wallet signs, as EIP-712 has it. */
export interface TypedData {
  readonly message: Readonly<Record<string, unknown>>;
}

/** What the owner of an address has to sign. */
export interface PreparedApproval {
  readonly fid: number;
  readonly key_add: TypedData;
  /** Of an app that asks for a key of the network itself. */
  readonly key_request?: TypedData | null;
}

export interface ApprovalOutcome {
  readonly status: "approved" | "pending_approval";
  readonly fid: number;
}

/** Sends one step of the approval that this page is about. */
function post<T>(step: "prepare" | "submit" | "demo", body: unknown): Promise<T> {
  const path = `${location.pathname.replace(/\/$/, "")}/${step}`;
  return request<T>({ method: "POST", path, body });
}

/** Asks the node what the address has to sign. The nonce and the deadline are new each time. */
export const prepareApproval = (address: string) => post<PreparedApproval>("prepare", { address });

/** Gives the node what the wallet signed. */
export function submitApproval(
  { fid, key_add: { message } }: PreparedApproval,
  signatures: { readonly custody: unknown; readonly request: unknown },
): Promise<ApprovalOutcome> {
  return post("submit", {
    fid,
    nonce: message.nonce,
    deadline: Number(message.deadline),
    custody_signature: signatures.custody,
    request_signature: signatures.request,
  });
}

/** Has the node sign as a person of its demo network. */
export const signAsPerson = (fid: number) => post<ApprovalOutcome>("demo", { fid });
