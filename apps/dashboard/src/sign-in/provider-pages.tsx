import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { SignedOutPage } from '../frame/signed-out-page.js';

/** Where a sign-in through the identity provider ends that named no page. */
export function SignedInPage() {
  const { t } = useTranslation('signIn');
  return (
    <SignedOutPage title={t('signedIn.title')}>
      <Anchor component={Link} to="/">
        {t('signedIn.go')}
      </Anchor>
    </SignedOutPage>
  );
}

/** Where one ends that failed. The reason is not shown: it would reveal whether a user has the address. */
export function SignInFailedPage() {
  const { t } = useTranslation('signIn');
  return (
    <SignedOutPage title={t('failed.title')}>
      <Text>{t('failed.verified')}</Text>
      <Text>{t('failed.unknown')}</Text>
      <Anchor component={Link} to="/sign-in">
        {t('back')}
      </Anchor>
    </SignedOutPage>
  );
}
