/** What is used of `libheif-js`, which describes its C functions only. */
declare module 'libheif-js/wasm-bundle.js' {
  interface HeifPixels {
    width: number;
    height: number;
    /** RGBA. */
    data: Uint8ClampedArray;
  }

  interface HeifImage {
    get_width(): number;
    get_height(): number;
    is_primary(): boolean;
    /** Decodes into `pixels`; calls back with undefined when that fails. */
    display(pixels: HeifPixels, done: (pixels: HeifPixels | undefined | null) => void): void;
    free(): void;
  }

  const libheif: { HeifDecoder: new () => { decode(file: Uint8Array): HeifImage[] } };
  export = libheif;
}
