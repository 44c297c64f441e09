import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { request } from "../data/request.ts";
import { pipedJson, shellQuote } from "../data/snippets.ts";
import { nodeOrigin, pageConfig } from "../page-config.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { attachWallet } from "./connection.ts";
import { OperationDeclined, type OwnerOperation, type PendingOperation } from "./operation.ts";
import { type Owner, owner } from "./owner.ts";
import { createNonce } from "./signed-text.ts";
import { requestHashOf } from "./typed-data.ts";
import { signWithWallet } from "./wallet-signature.ts";

/** What the sheet shows of the request, as the wallet will show it. */
interface Prepared {
  readonly body: string | undefined;
  readonly nonce: string;
  readonly requestHash: string;
}

type Step = "asking" | "wallet" | "sending";

function prepare({ body }: OwnerOperation): Prepared {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return { body: text, nonce: createNonce(), requestHash: requestHashOf(text ?? "") };
}

async function perform(
  { operation, fid }: PendingOperation,
  { body, nonce, requestHash }: Prepared,
  onSigned: () => void,
) {
  await attachWallet();
  const current = owner.peek();
  if (!current || current.fid !== fid)
    throw new OperationDeclined("The account in your wallet changed. Nothing was sent.");
  const { op, method, path } = operation;
  const signedAt = Math.floor(Date.now() / 1000);
  const signature = await signWithWallet(current, { op, fid, signedAt, nonce, requestHash });
  onSigned();
  const prefix = pageConfig.headerPrefix;
  const headers = {
    [`${prefix}Fid`]: String(fid),
    [`${prefix}Op`]: op,
    [`${prefix}Signed-At`]: String(signedAt),
    [`${prefix}Nonce`]: nonce,
    [`${prefix}Signature`]: signature,
  };
  return request<unknown>({ method, path, op }, { rawBody: body, headers });
}

function Facts({ operation, prepared, fid }: { operation: OwnerOperation; prepared: Prepared; fid: number }) {
  const facts = [
    ["op", operation.op],
    ["fid", String(fid)],
    ["nonce", prepared.nonce],
    ["requestHash", prepared.requestHash],
  ] as const;
  return (
    <div class="stack tight">
      <p class="s dim">Your wallet shows these lines. Compare them before you sign.</p>
      <dl class="pairs mono">
        {facts.map(([name, value]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd key={`${name} value`}>{value}</dd>
          </>
        ))}
      </dl>
    </div>
  );
}

/** For owners whose custody address is not in this browser. */
function Command({ operation, fid }: { operation: OwnerOperation; fid: number }) {
  if (operation.cli === undefined) return null;
  const { cli, cliInput } = operation;
  const command = `${pipedJson(cliInput)}${pageConfig.service} ${cli} --url ${shellQuote(nodeOrigin)} --fid ${fid} --key-file custody.key`;
  return (
    <details>
      <summary>My custody key is elsewhere</summary>
      <p class="s dim">This command does the same, where the key is:</p>
      <div class="row">
        <code class="grow user">{command}</code>
        <CopyButton text={command} />
      </div>
    </details>
  );
}

const STATES: Readonly<Record<Step, string>> = {
  asking: "",
  wallet: "Your wallet asks you now.",
  sending: "Signed. Sending it to the node.",
};

function Sheet({ pending, current }: { pending: PendingOperation; current: Owner }) {
  const { operation } = pending;
  const [step, setStep] = useState<Step>("asking");
  const [problem, setProblem] = useState<string>();
  const [typed, setTyped] = useState("");
  const [attempt, setAttempt] = useState(0);
  const prepared = useMemo(() => prepare(operation), [operation, attempt]);
  const isOpen = useRef(true);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );
  const isNamed = operation.typedName === undefined || typed === operation.typedName;

  async function sign() {
    setProblem(undefined);
    setStep("wallet");
    try {
      const response = await perform(pending, prepared, () => {
        // The wallet was faster than the person who closed the sheet: what was called off is not sent.
        if (!isOpen.current) throw new OperationDeclined("Called off.");
        setStep("sending");
      });
      pending.resolve(response);
    } catch (cause) {
      if (!isOpen.current) return;
      if (!(cause instanceof OperationDeclined)) return pending.reject(cause);
      setProblem(cause.message);
      setStep("asking");
      // The next try has a nonce of its own.
      setAttempt((count) => count + 1);
    }
  }

  useEffect(() => {
    if (operation.isConfirmed) void sign();
  }, []);

  const close = () => {
    if (step !== "sending")
      pending.reject(new OperationDeclined(problem ?? "You closed the confirmation. Nothing was sent."));
  };
  return (
    <Dialog title={operation.title ?? "Confirm with your wallet"} onClose={close}>
      <p>{operation.words}</p>
      {operation.details}
      <Facts operation={operation} prepared={prepared} fid={current.fid} />
      {operation.typedName !== undefined && (
        <Field
          label={`Type ${operation.typedName} to confirm`}
          name="operation-name"
          value={typed}
          onInput={setTyped}
        />
      )}
      {problem !== undefined && (
        <p class="failure" role="alert">
          {problem}
        </p>
      )}
      <p role="status" class="s dim">
        {STATES[step]}
      </p>
      <Command operation={operation} fid={current.fid} />
      <footer>
        <button type="button" class="btn" disabled={step === "sending"} onClick={close}>
          Cancel
        </button>
        <button type="button" class="btn go" disabled={step !== "asking" || !isNamed} onClick={sign}>
          {problem === undefined ? "Sign in the wallet" : "Try again"}
        </button>
      </footer>
    </Dialog>
  );
}

/** The sheet of the pending operation: what will happen, what the wallet will show, and what became of it. */
export function OperationSheet({ pending }: { pending: PendingOperation }) {
  const current = owner.value;
  const isSame = current?.fid === pending.fid;
  useEffect(() => {
    if (!isSame)
      pending.reject(new OperationDeclined("The account in your wallet changed. Nothing was sent."));
  }, [isSame]);
  return isSame ? <Sheet pending={pending} current={current} /> : null;
}
