// The pages of approval and sign-in. A login opens them one after the other, and each renders only into its own document.
import "./approve.tsx";
import "./sign-in.tsx";
