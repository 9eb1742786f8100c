import {
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from '@mantine/core';

/** Greens with 4.5:1 where text stands on them or is made of them: 7 on white, white on 7, 3 on the dark ground. */
const moss: MantineColorsTuple = [
  '#eef6f2',
  '#dbeae2',
  '#b3d5c4',
  '#8ac0a5',
  '#68ad8a',
  '#479a72',
  '#37805d',
  '#2a674a',
  '#214f39',
  '#163527',
];

/** Light badges and alerts: the text of stock Mantine is too pale on their ground in the light scheme. */
const variantColorResolver: VariantColorsResolver = (input) => {
  const resolved = defaultVariantColorsResolver(input);
  if (input.variant !== 'light') return resolved;
  const color = input.color ?? input.theme.primaryColor;
  if (!(color in input.theme.colors)) return resolved;
  return {
    ...resolved,
    color: `light-dark(color-mix(in srgb, var(--mantine-color-${color}-9) 55%, black), var(--mantine-color-${color}-2))`,
  };
};

export const theme = createTheme({
  primaryColor: 'moss',
  primaryShade: { light: 7, dark: 7 },
  colors: { moss },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.6rem' }, h2: { fontSize: '1.25rem' }, h3: { fontSize: '1.05rem' } },
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  variantColorResolver,
});
