import { areImagesLoaded, canLoadImages, hideImages, loadImages } from "../data/images.ts";

/** The choice to load images, which other hosts have. Nothing where the node never offers them. */
export function LoadImages() {
  if (canLoadImages)
    return (
      <button type="button" class="btn" title="Other hosts see your address" onClick={loadImages}>
        Load images
      </button>
    );
  if (!areImagesLoaded) return null;
  return (
    <button type="button" class="btn" onClick={hideImages}>
      Hide images
    </button>
  );
}
