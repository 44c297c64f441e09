import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { request } from "./data/request.ts";
import { discoverWallets, offeredWallets, type Wallet, type WalletProvider } from "./owner/wallet/wallets.ts";
import * as msg from "./text/en/manage/owner.ts";

/** What a wallet signs, as EIP-712 has it. */
interface TypedData {
  readonly message: Readonly<Record<string, unknown>>;
}

/** What the owner of an address has to sign. */
interface PreparedSignatures {
  readonly fid: number;
  readonly key_add: TypedData;
  /** For an app that asks for a key of the network itself. */
  readonly key_request?: TypedData | null;
}

/** What the owner of an address has to send, for a key on chain. */
interface PreparedSend {
  readonly fid: number;
  readonly transaction: {
    readonly chain_id: number;
    readonly to: string;
    readonly data: string;
    readonly warnings: readonly string[];
  };
}

type PreparedApproval = PreparedSignatures | PreparedSend;

interface ApprovalOutcome {
  readonly status: "approved" | "pending_approval";
  readonly fid: number;
}

/** Sends one step of the approval that this page is about. */
function post<T>(step: "prepare" | "submit" | "demo", body: unknown): Promise<T> {
  const path = `${location.pathname.replace(/\/$/, "")}/${step}`;
  return request<T>({ method: "POST", path, body });
}

/** Asks the node what the address has to sign. The nonce and the deadline are new each time. */
const prepareApproval = (address: string) => post<PreparedApproval>("prepare", { address });

/** Gives the node what the wallet signed. */
function submitApproval(
  { fid, key_add: { message } }: PreparedSignatures,
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
const signAsPerson = (fid: number) => post<ApprovalOutcome>("demo", { fid });

const ETHEREUM = 1;
const DECLINED = 4001;
/** Wallets announce themselves within this time. */
const FIRST_LOOK_MS = 300;
const NO_WALLET = msg.noWalletWasFoundInThis;

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
  if (code === DECLINED) return msg.nothingWasSigned;
  return typeof message === "string" && message !== "" ? message : msg.theWalletFailed;
};

const doneText = ({ status, fid }: ApprovalOutcome) =>
  status === "approved" ? msg.doneTheAppMayActFor(fid) : msg.signedTheNetworkHasNotConfirmed(fid);

async function useChain(provider: WalletProvider, id: number): Promise<void> {
  const chainId = `0x${id.toString(16)}`;
  if ((await provider.request({ method: "eth_chainId" })) === chainId) return;
  await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
}

/** Connects a wallet and has it sign what the node prepared, or has a demo person sign. */
function Approval(props: {
  isApproved: boolean;
  /** Where the app wants its user back. */
  redirectUrl: string | undefined;
  /** On a demo network: the person who signs, or an empty text for any. */
  demoFid: string | undefined;
}) {
  const { isApproved, redirectUrl, demoFid } = props;
  const [message, setMessage] = useState<Message | undefined>(
    isApproved ? { text: msg.theAppHasBeenApproved } : undefined,
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

  const finish = (outcome: ApprovalOutcome, text = doneText(outcome)) => {
    setMessage({ text, tone: "ok" });
    setDone(true);
    setSigned(true);
  };

  async function connect({ provider }: Wallet): Promise<void> {
    setMessage({ text: msg.waitingForTheWallet });
    const accounts = await provider.request({ method: "eth_requestAccounts" });
    const address: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
    if (typeof address !== "string" || address === "") throw new Error(msg.theWalletGaveNoAddress);
    setConnected({ provider, address, prepared: await prepareApproval(address) });
    setMessage(undefined);
  }

  async function sign({ provider, address }: Connected): Promise<void> {
    // A new nonce and deadline: the user may have taken a while.
    const prepared = await prepareApproval(address);
    if ("transaction" in prepared) {
      const { chain_id, to, data } = prepared.transaction;
      await useChain(provider, chain_id);
      setMessage({ text: msg.waitingForTheWallet });
      await provider.request({ method: "eth_sendTransaction", params: [{ from: address, to, data }] });
      finish({ status: "pending_approval", fid: prepared.fid }, msg.sentTheAppWillSeeTheKey(prepared.fid));
      return;
    }
    await useChain(provider, ETHEREUM);
    const signTyped = (data: TypedData) =>
      provider.request({ method: "eth_signTypedData_v4", params: [address, JSON.stringify(data)] });
    setMessage({ text: msg.waitingForTheWallet });
    const custody = await signTyped(prepared.key_add);
    const request = prepared.key_request ? await signTyped(prepared.key_request) : undefined;
    setMessage({ text: msg.sending });
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
              {msg.connect(
                wallet.icon !== undefined && <img src={wallet.icon} alt="" width={24} height={24} />,
                wallet.name,
              )}
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
          {msg.backToTheApp}
        </a>
      )}
    </>
  );
}

function Confirmation(props: {
  connected: Connected;
  isBusy: boolean;
  onSign: () => void;
  onOther: () => void;
}) {
  const {
    connected: { address, prepared },
    isBusy,
    onSign,
    onOther,
  } = props;
  return (
    <>
      <p class="account">
        {"transaction" in prepared
          ? msg.youAddThisKeyAsFid(prepared.fid, address)
          : msg.youApproveThisAppAsFid(
              prepared.fid,
              address,
              prepared.key_request ? msg.theWalletAsksTwice : "",
            )}
      </p>
      {"transaction" in prepared &&
        prepared.transaction.warnings.map((warning) => (
          <p class="s" key={warning}>
            {sentence(warning)}
          </p>
        ))}
      <button type="button" class="btn go" disabled={isBusy} onClick={onSign}>
        {"transaction" in prepared ? msg.send : msg.sign}
      </button>
      <button type="button" class="btn" disabled={isBusy} onClick={onOther}>
        {msg.useAnotherWallet}
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
      <p class="s">{msg.thisIsADemoNetworkSign}</p>
      <label class="person-of-demo">
        {msg.personByFid}
        <input
          class="grow"
          name="fid"
          inputMode="numeric"
          pattern="[0-9]+"
          value={text}
          // A signer that a user has approved before is for this user only.
          readOnly={fid !== ""}
          autoComplete="off"
          required
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" class="btn go" disabled={isBusy}>
        {msg.signAsThisPerson}
      </button>
    </form>
  );
}

// A link that is over has no such element.
const root = document.getElementById("approval");
if (root) {
  const { status, redirect, demo } = root.dataset;
  root.replaceChildren();
  render(<Approval isApproved={status === "approved"} redirectUrl={redirect} demoFid={demo} />, root);
}
