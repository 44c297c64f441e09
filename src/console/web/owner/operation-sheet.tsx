import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { request } from "../data/request.ts";
import { pageConfig } from "../page-config.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field, TechnicalDetails } from "../parts/form.tsx";
import { Facts } from "../parts/table.tsx";
import * as msg from "../text/en/manage/owner.ts";
import { attachWallet } from "./connection.ts";
import { OperationDeclined, type OwnerOperation, type PendingOperation } from "./operation.ts";
import { type Owner, owner } from "./owner.ts";
import { createNonce } from "./session-request.ts";
import { requestHashOf, signWithWallet } from "./wallet/wallet-signature.ts";

/** The parts of the request that the sheet shows, as the wallet will show them. */
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
  if (!current || current.fid !== fid) throw new OperationDeclined(msg.theAccountInYourWasSent);
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
  return request<unknown>({ method, path, op }, { rawBody: body, headers, onResponse: operation.onResponse });
}

function SignedFacts(props: { operation: OwnerOperation; prepared: Prepared; fid: number }) {
  const { operation, prepared, fid } = props;
  return (
    <TechnicalDetails>
      <p class="s dim">{msg.yourWalletShowsTheseLinesCompare}</p>
      <Facts
        class="pairs mono"
        facts={{ op: operation.op, fid, nonce: prepared.nonce, requestHash: prepared.requestHash }}
      />
    </TechnicalDetails>
  );
}

const STATES: Readonly<Record<Step, string>> = {
  asking: "",
  wallet: msg.confirmInYourWallet,
  sending: msg.signedSendingTheRequest,
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
        // The wallet was faster than the person who closed the sheet. A cancelled operation is not sent.
        if (!isOpen.current) throw new OperationDeclined(msg.canceled);
        setStep("sending");
      });
      pending.resolve(response);
    } catch (cause) {
      if (!isOpen.current) return;
      if (!(cause instanceof OperationDeclined)) return pending.reject(cause);
      setProblem(cause.message);
      setStep("asking");
      // The next attempt needs a new nonce.
      setAttempt((count) => count + 1);
    }
  }

  useEffect(() => {
    if (operation.isConfirmed) void sign();
  }, []);

  const close = () => {
    if (step !== "sending")
      pending.reject(new OperationDeclined(problem ?? msg.youClosedTheConfirmationNothingWas));
  };
  return (
    <Dialog title={operation.title ?? msg.confirmWithYourWallet} onClose={close}>
      <p>{operation.words}</p>
      {operation.details}
      <SignedFacts operation={operation} prepared={prepared} fid={current.fid} />
      {operation.typedName !== undefined && (
        <Field
          label={msg.typeToConfirm(operation.typedName)}
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
      <details>
        <summary>{msg.custodyKeyOnAnotherDevice}</summary>
        <CallPanel call={operation} title={msg.theSameRequest} fid={current.fid} canEdit={false} />
      </details>
      <footer>
        <button type="button" class="btn" disabled={step === "sending"} onClick={close}>
          {msg.cancel}
        </button>
        <button type="button" class="btn go" disabled={step !== "asking" || !isNamed} onClick={sign}>
          {problem === undefined ? msg.signInTheWallet : msg.tryAgain}
        </button>
      </footer>
    </Dialog>
  );
}

/** The sheet of the pending operation: what will happen, what the wallet will show, and the outcome. */
export function OperationSheet({ pending }: { pending: PendingOperation }) {
  const current = owner.value;
  const isSame = current?.fid === pending.fid;
  useEffect(() => {
    if (!isSame) pending.reject(new OperationDeclined(msg.theAccountInYourWasSent));
  }, [isSame]);
  return isSame ? <Sheet pending={pending} current={current} /> : null;
}
