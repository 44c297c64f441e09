// The pages of approval and of sign-in, which a login opens one after the other: each draws only into its own document.
import "./approve.tsx";
import "./sign-in.tsx";
