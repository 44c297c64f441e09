import { render } from "preact";
import { Approval } from "./approve/approval.tsx";

// A link that is over has no such element.
const root = document.getElementById("approval");
if (root) {
  const { status, redirect, demo } = root.dataset;
  root.replaceChildren();
  render(<Approval isApproved={status === "approved"} redirectUrl={redirect} demoFid={demo} />, root);
}
