import { useEffect, useState } from "preact/hooks";
import * as msg from "../../text/en/manage/owner.ts";
import { discoverWallets, offeredWallets, type Wallet, type WalletProvider } from "./wallets.ts";

/** The common parts of the two pages on which a wallet signs for an app: the approval of a signer, and sign-in. */

/** The EIP-712 data that a wallet signs. */
interface TypedData {
  readonly message: Readonly<Record<string, unknown>>;
}

/** What the owner of an address must sign for a signer. */
export interface PreparedSignatures {
  readonly fid: number;
  readonly key_add: TypedData;
  /** For an app that asks for its own key of the network. */
  readonly key_request?: TypedData | null;
}

export interface PageMessage {
  readonly text: string;
  readonly tone?: "ok" | "bad";
}

const ETHEREUM = 1;
const DECLINED = 4001;
/** How long wallets may take to announce themselves. */
const FIRST_LOOK_MS = 300;

/** Makes a sentence of an error message, which begins in lowercase and has no full stop. */
export const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.?$/, ".");

function reasonOf(cause: unknown): string {
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  if (code === DECLINED) return msg.nothingWasSigned;
  return typeof message === "string" && message !== "" ? message : msg.theWalletFailed;
}

/**
 * Returns the message of such a page, whether a step is running, and whether wallets have had the time to announce themselves.
 *
 * @param first the initial message; with one, the page looks for no wallets.
 */
export function useSigning(first?: PageMessage) {
  const [message, setMessage] = useState(first);
  const [isBusy, setBusy] = useState(false);
  const [hasLooked, setLooked] = useState(false);
  const looks = first === undefined;
  useEffect(() => {
    if (!looks) return;
    discoverWallets();
    const timer = setTimeout(() => setLooked(true), FIRST_LOOK_MS);
    return () => clearTimeout(timer);
  }, [looks]);

  /** Runs a step with all buttons disabled, and shows why it failed. */
  async function attempt(step: () => Promise<void>): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    try {
      await step();
    } catch (cause) {
      setMessage({ text: sentence(reasonOf(cause)), tone: "bad" });
    } finally {
      setBusy(false);
    }
  }
  return { message, setMessage, isBusy, attempt, hasLooked };
}

/** Connects a wallet. Returns the address that its user selects. */
export async function connectedAddress({ provider }: Wallet): Promise<string> {
  const accounts = await provider.request({ method: "eth_requestAccounts" });
  const address: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  if (typeof address !== "string" || address === "") throw new Error(msg.theWalletGaveNoAddress);
  return address;
}

export async function switchChain(provider: WalletProvider, id: number): Promise<void> {
  const chainId = `0x${id.toString(16)}`;
  if ((await provider.request({ method: "eth_chainId" })) === chainId) return;
  await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId }] });
}

/** Lets a wallet sign the approval of a signer. Returns the body of its submission. */
export async function signApproval(
  provider: WalletProvider,
  address: string,
  { fid, key_add: keyAdd, key_request: keyRequest }: PreparedSignatures,
) {
  await switchChain(provider, ETHEREUM);
  const sign = (data: TypedData) =>
    provider.request({ method: "eth_signTypedData_v4", params: [address, JSON.stringify(data)] });
  const custody = await sign(keyAdd);
  return {
    fid,
    nonce: keyAdd.message.nonce,
    deadline: Number(keyAdd.message.deadline),
    custody_signature: custody,
    request_signature: keyRequest ? await sign(keyRequest) : undefined,
  };
}

export function WalletButtons({ isBusy, onChoose }: { isBusy: boolean; onChoose: (wallet: Wallet) => void }) {
  return offeredWallets().map((wallet) => (
    <button
      type="button"
      class="btn go"
      key={wallet.id}
      aria-disabled={isBusy}
      onClick={() => onChoose(wallet)}
    >
      {msg.connect(
        wallet.icon !== undefined && <img src={wallet.icon} alt="" width={24} height={24} />,
        wallet.name,
      )}
    </button>
  ));
}

const FIRST_PERSON = 3;

/** The choice of a demo person who signs, without a wallet. */
export function DemoForm(props: {
  words: string;
  /** The only person who can sign; undefined for anyone. */
  fid?: string | undefined;
  /** Who is filled in where any person can sign; by default the first. */
  suggestedFid?: number | undefined;
  action: (fid: number) => string;
  isBusy: boolean;
  onSign: (fid: number) => void;
}) {
  const { words, fid, suggestedFid = FIRST_PERSON, action, isBusy, onSign } = props;
  const [text, setText] = useState(fid ?? String(suggestedFid));
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onSign(Number(text));
      }}
    >
      <p class="s">{words}</p>
      <label class="person-of-demo">
        {msg.personByFid}
        <input
          class="grow"
          name="fid"
          inputMode="numeric"
          pattern="[0-9]+"
          value={text}
          // A signer that a user has approved before can only be approved by the same user.
          readOnly={fid !== undefined}
          autoComplete="off"
          required
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit" class="btn go" aria-disabled={isBusy}>
        {action(Number(text))}
      </button>
    </form>
  );
}
