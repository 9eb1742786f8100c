import { Anchor, Alert, Text } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiFailure } from '../api/api-failure.js';
import { SignedOutPage } from '../frame/signed-out-page.js';
import { useLinkToken } from './taken-token.js';

interface LinkPageProps {
  path: string;
  title: string;
  /** What the operation failed with. */
  error: Error | null;
  /** Where another link is requested. */
  another?: { to: LinkProps['to']; label: string };
  children: (token: string) => ReactNode;
}

/** A page that a link with a token leads to. What it does is done by its button, not by its opening. */
export function LinkPage({ path, title, error, another, children }: LinkPageProps) {
  const { t } = useTranslation('signIn');
  const token = useLinkToken(path);
  return (
    <SignedOutPage title={title}>
      {token === undefined && <Text>{t('link.missing')}</Text>}
      {token !== undefined && (isUseless(error) ? <UselessLink another={another} /> : children(token))}
    </SignedOutPage>
  );
}

function UselessLink({ another }: Pick<LinkPageProps, 'another'>) {
  const { t } = useTranslation('signIn');
  return (
    <>
      <Alert color="red" role="alert">
        {t('link.useless')}
      </Alert>
      {another && (
        <Anchor component={Link} to={another.to}>
          {another.label}
        </Anchor>
      )}
    </>
  );
}

/** The link was used, or is too old. */
function isUseless(error: Error | null): boolean {
  return error instanceof ApiFailure && (error.status === 404 || error.field === 'token');
}
