export const theNodeShowsWhatBelongsToYou = "The node shows what belongs to your fid. Nothing changes.";
export const thisBrowserCannotCreateAKey = "This browser cannot create a key (Ed25519). Nothing was sent.";
