import { render } from "preact";
import { useState } from "preact/hooks";
import { request } from "./data/request.ts";
import {
  connectedAddress,
  DemoForm,
  type PreparedSignatures,
  sentence,
  signApproval,
  switchChain,
  useSigning,
  WalletButtons,
} from "./owner/wallet/signing-page.tsx";
import { offeredWallets, type Wallet, type WalletProvider } from "./owner/wallet/wallets.ts";
import * as msg from "./text/en/manage/owner.ts";

/** What the owner of an address must send for an on-chain key. */
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

/** Sends one step of the approval on this page. */
function post<T>(step: "prepare" | "submit" | "demo", body: unknown): Promise<T> {
  const path = `${location.pathname.replace(/\/$/, "")}/${step}`;
  return request<T>({ method: "POST", path, body });
}

/** Asks the node what the address must sign. The nonce and the deadline are new each time. */
const prepareApproval = (address: string) => post<PreparedApproval>("prepare", { address });

/** Lets the node sign as a person of its demo network. */
const signAsPerson = (fid: number) => post<ApprovalOutcome>("demo", { fid });

const NO_WALLET = msg.noWalletWasFoundInThis;

/** A wallet whose address may approve. */
interface Connected {
  readonly provider: WalletProvider;
  readonly address: string;
  readonly prepared: PreparedApproval;
}

const doneText = ({ status, fid }: ApprovalOutcome) =>
  status === "approved" ? msg.doneTheAppMayActFor(fid) : msg.signedTheNetworkHasNotConfirmed(fid);

/** Connects a wallet and lets it sign what the node prepared, or lets a demo person sign. */
function Approval(props: {
  isApproved: boolean;
  /** Where the app wants its user to return to. */
  redirectUrl: string | undefined;
  /** On a demo network: the person who signs; empty for anyone. */
  demoFid: string | undefined;
}) {
  const { isApproved, redirectUrl, demoFid } = props;
  const { message, setMessage, isBusy, attempt, hasLooked } = useSigning(
    isApproved ? { text: msg.theAppHasBeenApproved } : undefined,
  );
  const [isDone, setDone] = useState(isApproved);
  const [hasSigned, setSigned] = useState(false);
  const [connected, setConnected] = useState<Connected>();

  const finish = (outcome: ApprovalOutcome, text = doneText(outcome)) => {
    setMessage({ text, tone: "ok" });
    setDone(true);
    setSigned(true);
  };

  async function connect(wallet: Wallet): Promise<void> {
    setMessage({ text: msg.waitingForTheWallet });
    const address = await connectedAddress(wallet);
    setConnected({ provider: wallet.provider, address, prepared: await prepareApproval(address) });
    setMessage(undefined);
  }

  async function sign({ provider, address }: Connected): Promise<void> {
    // Requests a new nonce and deadline, because the user may have taken a while.
    const prepared = await prepareApproval(address);
    if ("transaction" in prepared) {
      const { chain_id, to, data } = prepared.transaction;
      await switchChain(provider, chain_id);
      setMessage({ text: msg.waitingForTheWallet });
      await provider.request({ method: "eth_sendTransaction", params: [{ from: address, to, data }] });
      finish({ status: "pending_approval", fid: prepared.fid }, msg.sentTheAppWillSeeTheKey(prepared.fid));
      return;
    }
    setMessage({ text: msg.waitingForTheWallet });
    const signed = await signApproval(provider, address, prepared);
    setMessage({ text: msg.sending });
    finish(await post("submit", signed));
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
          <WalletButtons isBusy={isBusy} onChoose={(wallet) => attempt(() => connect(wallet))} />
          {demoFid !== undefined && (
            <DemoForm
              words={msg.thisIsADemoNetworkSign}
              fid={demoFid || undefined}
              action={() => msg.signAsThisPerson}
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
      <button type="button" class="btn go" aria-disabled={isBusy} onClick={onSign}>
        {"transaction" in prepared ? msg.send : msg.sign}
      </button>
      <button type="button" class="btn" aria-disabled={isBusy} onClick={() => !isBusy && onOther()}>
        {msg.useAnotherWallet}
      </button>
    </>
  );
}

// The page of an invalid link has no such element.
const root = document.getElementById("approval");
if (root) {
  const { status, redirect, demo } = root.dataset;
  root.replaceChildren();
  render(<Approval isApproved={status === "approved"} redirectUrl={redirect} demoFid={demo} />, root);
}
