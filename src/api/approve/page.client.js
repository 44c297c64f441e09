/** The script of the approval page: connects a wallet of this browser and has it sign what the node prepared. */

const byId = (id) => document.getElementById(id);
const [root, wallets, demo, confirmation, account, signButton, otherButton, message, back] = [
  "approval",
  "wallets",
  "demo",
  "confirm",
  "account",
  "sign",
  "other",
  "message",
  "back",
].map(byId);
const path = location.pathname.replace(/\/$/, "");
const ETHEREUM = "0x1";
const REJECTED = 4001;

/** @param tone "ok", "bad" or nothing */
function tell(text, tone = "") {
  message.textContent = text;
  message.dataset.tone = tone;
}

/** Messages of errors begin in lower case and have no full stop. */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.?$/, ".");

async function post(step, body) {
  const response = await fetch(`${path}/${step}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const content = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(content.message || `the node responded with ${response.status}`);
  return content;
}

function finish({ status, fid }) {
  for (const part of [wallets, confirmation, demo]) part?.remove();
  tell(
    status === "approved"
      ? `Done. The app may act for fid ${fid}. You can close this page.`
      : `Signed. The network has not confirmed the key for fid ${fid} yet; the app will see it when it has. You can close this page.`,
    "ok",
  );
  const { redirect } = root.dataset;
  if (!redirect) return;
  back.href = redirect;
  back.hidden = false;
}

/** Runs a step with all buttons off, and shows why it failed. */
async function attempt(work) {
  const buttons = [...root.querySelectorAll("button")];
  for (const button of buttons) button.disabled = true;
  try {
    await work();
  } catch (error) {
    const reason = error.code === REJECTED ? "nothing was signed" : error.message || "the wallet failed";
    tell(sentence(reason), "bad");
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

async function switchToEthereum(provider) {
  if ((await provider.request({ method: "eth_chainId" })) === ETHEREUM) return;
  await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId: ETHEREUM }] });
}

async function connect(provider) {
  tell("Waiting for the wallet…");
  const [address] = await provider.request({ method: "eth_requestAccounts" });
  if (!address) throw new Error("The wallet gave no address.");
  const prepared = await post("prepare", { address });
  account.textContent = `You approve this app as fid ${prepared.fid}, with ${address}. ${
    prepared.key_request ? "The wallet asks twice. " : ""
  }It costs nothing.`;
  show({ confirming: true });
  tell("");
  signButton.onclick = () => attempt(() => sign(provider, address));
}

function show({ confirming }) {
  confirmation.hidden = !confirming;
  wallets.hidden = confirming;
  if (demo) demo.hidden = confirming;
}

async function sign(provider, address) {
  // A new nonce and deadline: the user may have taken a while.
  const { fid, key_add, key_request } = await post("prepare", { address });
  await switchToEthereum(provider);
  const signTyped = (data) =>
    provider.request({ method: "eth_signTypedData_v4", params: [address, JSON.stringify(data)] });
  tell("Waiting for the wallet…");
  const custody_signature = await signTyped(key_add);
  const request_signature = key_request ? await signTyped(key_request) : undefined;
  tell("Sending…");
  const { nonce, deadline } = key_add.message;
  const signed = { fid, nonce, deadline: Number(deadline), custody_signature, request_signature };
  finish(await post("submit", signed));
}

function offer(provider, name, icon) {
  const button = document.createElement("button");
  button.type = "button";
  if (icon?.startsWith("data:image/")) {
    const image = document.createElement("img");
    image.src = icon;
    image.alt = "";
    button.append(image);
  }
  button.append(`Connect ${name}`);
  button.onclick = () => attempt(() => connect(provider));
  wallets.append(button);
  tell("");
}

/** Wallets announce themselves (EIP-6963); older ones are `window.ethereum`. */
function findWallets() {
  const known = new Set();
  addEventListener("eip6963:announceProvider", ({ detail }) => {
    if (!detail?.provider || known.has(detail.provider)) return;
    known.add(detail.provider);
    offer(detail.provider, String(detail.info?.name ?? "wallet").slice(0, 64), detail.info?.icon);
  });
  dispatchEvent(new Event("eip6963:requestProvider"));
  setTimeout(() => {
    if (known.size === 0 && window.ethereum) offer(window.ethereum, "your wallet");
    if (wallets.childElementCount === 0 && !demo)
      tell(
        "No wallet was found in this browser. Open this page in the browser, or in the wallet app, that has your custody address.",
      );
  }, 300);
}

otherButton.onclick = () => {
  show({ confirming: false });
  tell("");
};

demo?.addEventListener("submit", (event) => {
  event.preventDefault();
  const fid = Number(new FormData(event.target).get("fid"));
  void attempt(async () => finish(await post("demo", { fid })));
});

if (root.dataset.status === "approved") {
  for (const part of [wallets, demo]) part?.remove();
  tell("The app has been approved.", "ok");
} else {
  findWallets();
}
