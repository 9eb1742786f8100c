import { Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** One matter of a page, with its title. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section">
      <Stack gap="sm" align="flex-start">
        <Title order={2}>{title}</Title>
        {children}
      </Stack>
    </Paper>
  );
}
