/** A website with the button of AuthKit. The query names the node; what the button reports is text of the page. */

import { AuthKitProvider, SignInButton } from "@farcaster/auth-kit";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

const node = new URLSearchParams(location.search).get("node");
const config = {
  relay: node,
  version: "v1",
  rpcUrl: `${node}/rpc/10`,
  domain: location.host,
  siweUri: location.href,
};
const show = (id) => (value) => {
  document.getElementById(id).textContent = JSON.stringify(value) ?? "";
};
const button = createElement(SignInButton, {
  interval: 100,
  onSuccess: show("success"),
  onError: show("error"),
});
createRoot(document.getElementById("root")).render(createElement(AuthKitProvider, { config }, button));
