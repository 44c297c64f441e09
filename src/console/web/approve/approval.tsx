import { useEffect, useState } from "preact/hooks";
import { discoverWallets, offeredWallets, type Wallet, type WalletProvider } from "../owner/wallets.ts";
import {
  type ApprovalOutcome,
  type PreparedApproval,
  prepareApproval,
  signAsPerson,
  submitApproval,
  type TypedData,
} from "./requests.ts";

const ETHEREUM = "0x1";
const DECLINED = 4001;
/** Wallets announce themselves within this time. */
const FIRST_LOOK_MS = 300;
const NO_WALLET =
  "No wallet was found in this browser. Open this page in the browser, or in the wallet app, that has your custody address.";

interface Message {
  readonly text: string;
  readonly tone?: "ok" | "bad";
}

/** A wallet whose address may approve. */
interface Connected {
  readonly provider: WalletProvider;
  readonly address: string;
  readonly prepared: PreparedApproval;
}

/** Messages of errors begin in lower case and have no full stop. */
const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.?$/, ".");

const reasonOf = (cause: unknown): string => {
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  if (code === DECLINED) return "nothing was signed";
  return typeof message === "string" && message !== "" ? message : "the wallet failed";
};

const doneText = ({ status, fid }: ApprovalOutcome) =>
  status === "approved"
    ? `Done. The app may act for fid ${fid}. You can close this page.`
    : `Signed. The network has not confirmed the key for fid ${fid} yet; the app will see it when it has. You can close this page.`;

async function useEthereum(provider: WalletProvider): Promise<void> {
  if ((await provider.request({ method: "eth_chainId" })) === ETHEREUM) return;
  await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId: ETHEREUM }] });
}

/** Connects a wallet and has it sign what the node prepared, or has a demo person sign. */
export function Approval({
  isApproved,
  redirectUrl,
  demoFid,
}: {
  isApproved: boolean;
  /** Where the app wants its user back. */
  redirectUrl: string | undefined;
  /** On a demo network: the person who signs, or an empty text for any. */
  demoFid: string | undefined;
}) {
  const [message, setMessage] = useState<Message | undefined>(
    isApproved ? { text: "The app has been approved." } : undefined,
  );
  const [isBusy, setBusy] = useState(false);
  const [isDone, setDone] = useState(isApproved);
  const [hasSigned, setSigned] = useState(false);
  const [connected, setConnected] = useState<Connected>();
  const [hasLooked, setLooked] = useState(false);
  useEffect(() => {
    if (isApproved) return;
    discoverWallets();
    const timer = setTimeout(() => setLooked(true), FIRST_LOOK_MS);
    return () => clearTimeout(timer);
  }, [isApproved]);

  /** Runs a step with all buttons off, and shows why it failed. */
  async function attempt(step: () => Promise<void>): Promise<void> {
    setBusy(true);
    try {
      await step();
    } catch (cause) {
      setMessage({ text: sentence(reasonOf(cause)), tone: "bad" });
    } finally {
      setBusy(false);
    }
  }

  const finish = (outcome: ApprovalOutcome) => {
    setMessage({ text: doneText(outcome), tone: "ok" });
    setDone(true);
    setSigned(true);
  };

  async function connect({ provider }: Wallet): Promise<void> {
    setMessage({ text: "Waiting for the wallet…" });
    const accounts = await provider.request({ method: "eth_requestAccounts" });
    const address: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
    if (typeof address !== "string" || address === "") throw new Error("The wallet gave no address.");
    setConnected({ provider, address, prepared: await prepareApproval(address) });
    setMessage(undefined);
  }

  async function sign({ provider, address }: Connected): Promise<void> {
    // A new nonce and deadline: the user may have taken a while.
    const prepared = await prepareApproval(address);
    await useEthereum(provider);
    const signTyped = (data: TypedData) =>
      provider.request({ method: "eth_signTypedData_v4", params: [address, JSON.stringify(data)] });
    setMessage({ text: "Waiting for the wallet…" });
    const custody = await signTyped(prepared.key_add);
    const request = prepared.key_request ? await signTyped(prepared.key_request) : undefined;
    setMessage({ text: "Sending…" });
    finish(await submitApproval(prepared, { custody, request }));
  }

  const wallets = offeredWallets();
  const note =
    message ??
    (hasLooked && wallets.length === 0 && demoFid === undefined && !connected
      ? { text: NO_WALLET }
      : undefined);
  return (
    <>
      {!isDone && connected && (
        <Confirmation
          connected={connected}
          isBusy={isBusy}
          onSign={() => attempt(() => sign(connected))}
          onOther={() => {
            setConnected(undefined);
            setMessage(undefined);
          }}
        />
      )}
      {!isDone && !connected && (
        <>
          {wallets.map((wallet) => (
            <button
              type="button"
              class="btn go"
              key={wallet.id}
              disabled={isBusy}
              onClick={() => attempt(() => connect(wallet))}
            >
              {wallet.icon !== undefined && <img src={wallet.icon} alt="" width={24} height={24} />}
              Connect {wallet.name}
            </button>
          ))}
          {demoFid !== undefined && (
            <DemoForm
              fid={demoFid}
              isBusy={isBusy}
              onSign={(fid) => attempt(async () => finish(await signAsPerson(fid)))}
            />
          )}
        </>
      )}
      <p class="outcome" role="status" data-tone={note?.tone}>
        {note?.text}
      </p>
      {hasSigned && redirectUrl !== undefined && (
        <a class="btn go" rel="noreferrer" href={redirectUrl}>
          Back to the app
        </a>
      )}
    </>
  );
}

function Confirmation({
  connected: { address, prepared },
  isBusy,
  onSign,
  onOther,
}: {
  connected: Connected;
  isBusy: boolean;
  onSign: () => void;
  onOther: () => void;
}) {
  return (
    <>
      <p class="account">
        You approve this app as fid {prepared.fid}, with {address}.{" "}
        {prepared.key_request ? "The wallet asks twice. " : ""}It costs nothing.
      </p>
      <button type="button" class="btn go" disabled={isBusy} onClick={onSign}>
        Sign
      </button>
      <button type="button" class="btn" disabled={isBusy} onClick={onOther}>
        Use another wallet
      </button>
    </>
  );
}

const FIRST_PERSON = "3";

function DemoForm({ fid, isBusy, onSign }: { fid: string; isBusy: boolean; onSign: (fid: number) => void }) {
  const [text, setText] = useState(fid || FIRST_PERSON);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onSign(Number(text));
      }}
    >
      <p class="s">
        This is a demo network. Sign as one of its people, whose keys are public, without a wallet.
      </p>
      <label class="person-of-demo">
        Person, by fid
        <input
          class="grow"
          name="fid"
          inputMode="numeric"
          pattern="[0-9]+"
          value={text}
          // A signer that a user has approved before is for this user alone.
          readOnly={fid !== ""}
          autoComplete="off"
          required
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" class="btn go" disabled={isBusy}>
        Sign as this person
      </button>
    </form>
  );
}
