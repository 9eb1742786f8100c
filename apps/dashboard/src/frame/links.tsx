import { Anchor, Button, Paper, type AnchorProps, type ButtonProps, type PaperProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Of<Props> = Props & Omit<ComponentPropsWithRef<'a'>, keyof Props>;

/** A link to a page of the dashboard that looks like a button. */
export const LinkButton = createLink((props: Of<ButtonProps>) => <Button component="a" {...props} />);

/** A link to a page of the dashboard. */
export const LinkAnchor = createLink((props: Of<AnchorProps>) => <Anchor {...props} />);

/** A box that is a link to a page of the dashboard as a whole. */
export const LinkPaper = createLink((props: Of<PaperProps>) => <Paper component="a" {...props} />);
