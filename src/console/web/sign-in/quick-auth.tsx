import { useLayoutEffect, useState } from "preact/hooks";
import { signInText } from "../../../protocol/sign-in-text.ts";
import { get } from "../data/call.ts";
import { request } from "../data/request.ts";
import { signText } from "../owner/wallet/sign-text.ts";
import { accountsOf } from "../owner/wallet/wallet-signature.ts";
import { discoverWallets, offeredWallets, type Wallet } from "../owner/wallet/wallets.ts";
import { Checkbox, Field } from "../parts/form.tsx";
import { Card } from "../parts/region.tsx";
import * as msg from "../text/en/manage/login.ts";
import { Steps, useSteps } from "./steps.tsx";

type Verified = { readonly token: string } | { readonly reason: string; readonly message: string };
interface Account {
  readonly wallet: Wallet;
  readonly address: string;
}

const post = <T,>(path: string, body?: unknown) =>
  request<T>({ method: "POST", path: `/quick-auth${path}`, ...(body !== undefined && { body }) });

/** Returns the fid that an account owns; empty if it owns none, such as an auth address. */
const ownFid = (address: string): Promise<string> =>
  request(get("/user/custody-address", { custody_address: address })).then(
    ({ user }) => String(user.fid),
    () => "",
  );

/** A sign-in like that of mini apps, with a message that the visitor may edit. */
export function QuickAuth() {
  const { steps, isBusy, step, run, forgetFrom } = useSteps();
  const [domain, setDomain] = useState(location.host);
  const [fid, setFid] = useState("");
  const [account, setAccount] = useState<Account>();
  const [text, setText] = useState("");
  const [acceptAuthAddress, setAccept] = useState(true);
  const [sent, setSent] = useState<object>();
  useLayoutEffect(discoverWallets, []);
  const wallets = offeredWallets();

  const begin = (wallet: Wallet) =>
    run(async () => {
      forgetFrom(msg.theWallet);
      setSent(undefined);
      const address = await step<string>(msg.theWallet, async () => {
        const [first] = await accountsOf(wallet.provider, { ask: true });
        return first === undefined ? { refusal: { text: msg.theWalletShowsNoAccount } } : { value: first };
      });
      setAccount({ wallet, address });
      const whose = (await ownFid(address)) || fid;
      setFid(whose);
      const { nonce } = await step(msg.theNonce, async () => ({
        value: await post<{ nonce: string }>("/nonce"),
      }));
      const uri = `${domain === location.host ? location.protocol : "https:"}//${domain}/`;
      setText(signInText({ domain, address, uri, nonce, issuedAtMs: Date.now(), fid: Number(whose) }));
    });

  const send = (body: object) =>
    run(async () => {
      forgetFrom(msg.theToken);
      const token = await step<string>(msg.theToken, async () => {
        const verified = await post<Verified>("/verify-siwf", body);
        return "token" in verified
          ? { value: verified.token }
          : { refusal: { reason: verified.reason, text: verified.message } };
      });
      await step(msg.theTokensClaims, async () => {
        const query = new URLSearchParams({ token, domain });
        return { value: await request({ method: "GET", path: `/quick-auth/verify-jwt?${query}` }) };
      });
    });

  const sign = ({ wallet, address }: Account) => {
    let body: object | undefined;
    return run(async () => {
      forgetFrom(msg.theSignature);
      const signature = await step(msg.theSignature, async () => ({
        value: await signText(wallet.provider, address, text),
      }));
      body = { message: text, signature, domain, acceptAuthAddress };
      setSent(body);
    }).then(() => (body ? send(body) : undefined));
  };

  return (
    <Card title={msg.quickAuth}>
      <p class="measure">{msg.whatMiniAppsDo}</p>
      <Field
        label={msg.domain}
        name="quick-domain"
        value={domain}
        onInput={setDomain}
        hint={msg.theDomainOfYourApp}
      />
      <Field label={msg.fid} name="quick-fid" value={fid} onInput={setFid} hint={msg.ofTheAddress} />
      <div class="row wrap">
        {wallets.map((wallet) => (
          <button
            type="button"
            class="btn"
            key={wallet.id + wallet.name}
            aria-disabled={isBusy}
            onClick={() => void begin(wallet)}
          >
            {msg.signInWith(wallet.name)}
          </button>
        ))}
        {wallets.length === 0 && <p class="s">{msg.noWallet}</p>}
      </div>
      {account && text !== "" && (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void sign(account);
          }}
        >
          <Field
            label={msg.message}
            name="quick-message"
            value={text}
            onInput={setText}
            rows={12}
            hint={msg.changeItToSeeARefusal}
          />
          <div class="checks">
            <Checkbox checked={acceptAuthAddress} onChange={setAccept}>
              {msg.acceptAuthAddresses}
            </Checkbox>
          </div>
          <div class="row wrap">
            <button type="submit" class="btn go" aria-disabled={isBusy}>
              {msg.signAndSend}
            </button>
            {sent && (
              <button type="button" class="btn" aria-disabled={isBusy} onClick={() => void send(sent)}>
                {msg.sendTheSameAgain}
              </button>
            )}
          </div>
        </form>
      )}
      <Steps label={msg.quickAuth} steps={steps} />
    </Card>
  );
}
