import { DUPLICATE_CODE, type SubmitResult } from "../writes/network.ts";
import type { Intake } from "./intake.ts";

/** Merges the messages of one write into the own index. A fault leaves it open which of them were merged. */
export async function mergeWrite(
  intake: Intake,
  messages: readonly Uint8Array[],
  onFault: (method: string, cause: unknown) => void,
): Promise<readonly SubmitResult[]> {
  try {
    const [only] = messages;
    if (messages.length === 1 && only) {
      const merged = await intake.merge(only);
      return [merged.ok ? MERGED : refused(merged.error)];
    }
    const results = await intake.mergeBulk(messages);
    if (!results.ok) return messages.map(() => refused(results.error));
    return results.value.map(({ response }) =>
      response?.$case === "messageError"
        ? refused({ code: response.value.errCode, reason: response.value.message })
        : MERGED,
    );
  } catch (cause) {
    onFault("submitWrite", cause);
    return messages.map(() => ({ kind: "unknown", reason: "the node failed" }));
  }
}

const MERGED: SubmitResult = { kind: "merged" };

function refused({ code, reason }: { readonly code: string; readonly reason: string }) {
  return code === DUPLICATE_CODE ? MERGED : ({ kind: "refused", code, reason } as const);
}
