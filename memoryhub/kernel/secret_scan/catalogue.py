"""Keys that have a shape of their own: detect-secrets' and those it lacks.

Which of detect-secrets 1.5's detectors are here, and why the others aren't:

- as they are: AWS, Artifactory, Azure storage, Cloudant, Discord, GitHub, GitLab, IBM Cloud IAM,
  IBM COS, Mailchimp, PyPI, SendGrid, Slack, SoftLayer, Square, Stripe, Telegram, Twilio;
- a linear or wider pattern of ours in their place: JWT, npm and OpenAI (theirs take quadratic time,
  minutes for one hostile line), private keys (theirs flags a sentence that names the header), basic
  auth (theirs flags `user:password@` of every manual and misses passwords with `$` or `!`);
- out: both entropy detectors (they flag commit ids, UUIDs and plain sentences), KeywordDetector
  ("the password is stored hashed"; `assignments` is the stricter rule), public IP addresses (no
  secret).
"""

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass

from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.cloudant import CloudantDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from memoryhub.kernel import tokens
from memoryhub.kernel.secret_scan.values import is_hex, is_mixed, is_wordy

LONGEST = 300
"""How far a pattern reads: no shape needs more to be sure."""

Accept = Callable[[str], bool]


def _any(_secret: str) -> bool:
    return True


def _none(_secret: str) -> bool:
    return False


def _key_like(secret: str) -> bool:
    """Not words with hyphens between them, which share their alphabet with many keys."""
    return not is_wordy(secret)


def _unbroken(secret: str) -> bool:
    """Some run of letters and digits is as long as a key is and no word."""
    runs = re.split(r"[^A-Za-z0-9]", secret)
    return any((len(run) >= 16 and not is_wordy(run)) or len(run) >= 32 for run in runs)


def _json_header(secret: str) -> bool:
    return JwtTokenDetector.is_formally_valid(secret)


def _mixed_key(secret: str) -> bool:
    return is_mixed(secret) and not is_wordy(secret)


def _ends_in_key(secret: str) -> bool:
    """The value at the end of a `name = value` match could be a key, not a commit id or a long name."""
    value = re.split(r"[\s=:>]+", secret)[-1].strip("\"'[]")
    return is_mixed(value) and not is_wordy(value)


def _not_only_hex(secret: str) -> bool:
    """A key, or `aws ... key = "value"`, that is no commit id and no digest in capitals."""
    value = secret.rsplit(secret[-1], 2)[-2] if secret[-1] in "\"'" else secret
    return not is_hex(value)


def _private_key_inside(encoded: str) -> bool:
    """Whether what a file of settings holds in base64 begins as a private key, and not as a certificate."""
    return b"PRIVATE KEY" in base64.b64decode(encoded)


@dataclass(frozen=True, slots=True)
class Shape:
    """A key of ours to look for: `pattern` is tried where `anchor`, its literal beginning, stands."""

    kind: str
    anchor: str
    pattern: re.Pattern[str]
    accept: Accept = _any
    proven: Accept = _none
    """Whether it is a key beyond doubt, by a check sum: then a filler in it (`xxxx`) is there by chance."""


@dataclass(frozen=True, slots=True)
class Borrowed:
    """A detector of detect-secrets: its patterns run only when one of `anchors` occurs."""

    kind: str
    detector: type[RegexBasedDetector]
    anchors: tuple[str, ...]
    accept: Accept = _any
    whole: bool = False
    """Whether letters or digits next to a match make it a part of something else."""
    named: bool = False
    """Whether it also looks for `name = value`: then its patterns run around such places only."""

    @property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(self.detector.denylist)  # type: ignore[arg-type]  # declared a property, is a tuple


_ARTIFACTORY = ("AKC", *(f"AP{sign}" for sign in "0123456789ABCDEF"))
_AWS = ("AKIA", "ASIA", "ABIA", "ACCA", "A3T", "aws", "AWS", "Aws")

BORROWED = (
    Borrowed("AWS access key", AWSKeyDetector, _AWS, _not_only_hex, whole=True),
    Borrowed("Azure storage key", AzureStorageKeyDetector, ("AccountKey=",)),
    Borrowed("GitHub token", GitHubTokenDetector, ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    Borrowed("GitLab token", GitLabTokenDetector, ("gl", "GR1348941"), _key_like),
    Borrowed("Slack token or webhook", SlackDetector, ("xox", "XOX", "hooks.slack.com")),
    Borrowed("Stripe key", StripeDetector, ("k_live_",)),
    Borrowed("SendGrid key", SendGridDetector, ("SG.",)),
    Borrowed("PyPI token", PypiTokenDetector, ("pypi-Ag",)),
    Borrowed("Square secret", SquareOAuthDetector, ("sq0csp-",)),
    Borrowed("Mailchimp key", MailchimpDetector, ("-us",), whole=True),
    Borrowed("Twilio key", TwilioKeyDetector, ("AC", "SK"), whole=True),
    Borrowed("Telegram bot token", TelegramBotTokenDetector, (":",), _key_like, whole=True),
    Borrowed("Discord bot token", DiscordBotTokenDetector, (".",), is_mixed, whole=True),
    Borrowed("Artifactory credential", ArtifactoryDetector, _ARTIFACTORY, _mixed_key),
    Borrowed("Cloudant credential", CloudantDetector, ("cloudant.com",), _key_like, named=True),
    Borrowed("SoftLayer credential", SoftlayerDetector, ("softlayer.com",), named=True),
    Borrowed("IBM COS credential", IbmCosHmacDetector, (), named=True),
    Borrowed("IBM Cloud key", IbmCloudIamDetector, (), _ends_in_key, named=True),
)


def _shape(kind: str, anchor: str, rest: str, accept: Accept = _any) -> Shape:
    return Shape(kind, anchor, re.compile(re.escape(anchor) + rest), accept)


_B64URL = "[A-Za-z0-9_-]"
_ALNUM = "[A-Za-z0-9]"
_HEX = "[0-9a-f]"
_UUID = f"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"


def _at_least(characters: str, count: int) -> str:
    # Bounded: after a match that is no key the search goes on behind it, so none is read twice.
    return f"{characters}{{{count},{LONGEST}}}"


SHAPES = (
    Shape("MemoryHub access token", tokens.PREFIX, tokens.PATTERN, proven=tokens.well_formed),
    # AI providers. The more telling prefixes come first.
    _shape("Anthropic key", "sk-ant-", _at_least(_B64URL, 20), _key_like),
    _shape("OpenAI key", "sk-proj-", _at_least(_B64URL, 20), _key_like),
    _shape("OpenAI key", "sk-svcacct-", _at_least(_B64URL, 20), _key_like),
    _shape("OpenAI key", "sk-admin-", _at_least(_B64URL, 20), _key_like),
    _shape("OpenRouter key", "sk-or-", _at_least(_B64URL, 20), _key_like),
    _shape("Langfuse key", "sk-lf-", _UUID),
    _shape("AI provider key (sk-)", "sk-", _at_least(_B64URL, 20), _unbroken),
    _shape("Google API key", "AIza", f"{_B64URL}{{35}}"),
    _shape("Google OAuth client secret", "GOCSPX-", _at_least(_B64URL, 20), _key_like),
    _shape("Google OAuth token", "ya29.", _at_least(_B64URL, 20), _key_like),
    _shape("Google OAuth refresh token", "1//0", _at_least(_B64URL, 30), _key_like),
    _shape("Hugging Face token", "hf_", _at_least(_ALNUM, 30)),
    _shape("Hugging Face token", "api_org_", _at_least(_ALNUM, 30)),
    _shape("Groq key", "gsk_", _at_least(_ALNUM, 40)),
    _shape("xAI key", "xai-", _at_least(_ALNUM, 40)),
    _shape("Perplexity key", "pplx-", _at_least(_ALNUM, 40)),
    _shape("Replicate token", "r8_", _at_least(_ALNUM, 32)),
    _shape("Fireworks key", "fw_", _at_least(_ALNUM, 22), is_mixed),
    _shape("Cerebras key", "csk-", _at_least(_ALNUM, 40)),
    _shape("Voyage key", "pa-", _at_least(_B64URL, 40), _unbroken),
    _shape("Together key", "tgp_v1_", _at_least(_B64URL, 30), _key_like),
    _shape("NVIDIA key", "nvapi-", _at_least(_B64URL, 40), _key_like),
    _shape("Pinecone key", "pcsk_", _at_least("[A-Za-z0-9_]", 40), _key_like),
    _shape("Tavily key", "tvly-", _at_least(_B64URL, 24), _key_like),
    _shape("Jina key", "jina_", _at_least(_B64URL, 40), _unbroken),
    _shape("Firecrawl key", "fc-", f"{_HEX}{{32}}"),
    _shape("E2B key", "e2b_", f"{_HEX}{{40}}"),
    _shape("LangSmith key", "lsv2_", f"(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}"),
    _shape("Langfuse key", "pk-lf-", _UUID),
    _shape("ElevenLabs key", "sk_", f"{_HEX}{{48}}"),
    # Clouds and hosting.
    _shape("AWS Bedrock key", "ABSK", _at_least("[A-Za-z0-9+/]", 100)),
    _shape("AWS Bedrock key", "bedrock-api-key-", _at_least("[A-Za-z0-9+/=]", 30)),
    _shape("Azure signature", "sig=", f"[A-Za-z0-9%+/]{{43,{LONGEST}}}(?:%3[Dd]|=)", is_mixed),
    _shape("Alibaba Cloud key", "LTAI", _at_least(_ALNUM, 16), is_mixed),
    _shape("DigitalOcean token", "dop_v1_", f"{_HEX}{{64}}"),
    _shape("DigitalOcean token", "doo_v1_", f"{_HEX}{{64}}"),
    _shape("DigitalOcean token", "dor_v1_", f"{_HEX}{{64}}"),
    _shape("Cloudflare origin key", "v1.0-", f"{_HEX}{{24}}-{_HEX}{{100}}"),
    _shape("Fly.io token", "fo1_", _at_least(_B64URL, 40), _key_like),
    _shape("Fly.io token", "fm2_", _at_least("[A-Za-z0-9+/=]", 80)),
    _shape("Heroku key", "HRKU-", _at_least(_B64URL, 36), _key_like),
    _shape("Netlify token", "nfp_", _at_least(_ALNUM, 36)),
    _shape("Render key", "rnd_", _at_least(_ALNUM, 28)),
    _shape("Supabase key", "sbp_", f"{_HEX}{{40}}"),
    _shape("Supabase key", "sb_secret_", _at_least(_B64URL, 20), _key_like),
    _shape(
        "PlanetScale secret", "pscale_", f"(?:tkn|pw|oauth)_{_at_least('[A-Za-z0-9_.=-]', 32)}", _key_like
    ),
    _shape("Databricks token", "dapi", f"{_HEX}{{32}}"),
    _shape("Vault token", "hvs.", _at_least(_B64URL, 24), _key_like),
    _shape("Vault token", "hvb.", _at_least(_B64URL, 24), _key_like),
    _shape("Vault token", "hvr.", _at_least(_B64URL, 24), _key_like),
    _shape("Terraform Cloud token", "atlasv1.", _at_least("[A-Za-z0-9_=-]", 60)),
    _shape("Pulumi token", "pul-", f"{_HEX}{{40}}"),
    _shape("Doppler token", "dp.", f"(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{{1,40}}\\.)?{_ALNUM}{{40}}"),
    _shape("1Password token", "ops_eyJ", _at_least("[A-Za-z0-9+/=_-]", 100)),
    _shape(
        "1Password secret key",
        "A3-",
        "[A-Z0-9]{6}-(?:[A-Z0-9]{6}-)?(?:[A-Z0-9]{5,11}-){2,4}[A-Z0-9]{5}",
    ),
    _shape(
        "Tailscale key",
        "tskey-",
        f"(?:(?:auth|api|client|scim|webhook)-)?{_at_least(_B64URL, 20)}",
        _key_like,
    ),
    _shape("OpenShift token", "sha256~", f"{_B64URL}{{43}}"),
    _shape("age secret key", "AGE-SECRET-KEY-1", "[02-9AC-HJ-NP-Z]{58}"),
    # Code, packages and builds.
    _shape("GitHub token", "github_pat_", _at_least("[A-Za-z0-9_]", 36), _key_like),
    _shape("GitLab token", "glpat-", f"{_B64URL}{{27,{LONGEST}}}", _key_like),
    _shape("GitLab token", "glffct-", _at_least(_B64URL, 20), _key_like),
    _shape("Bitbucket password", "ATBB", _at_least(_ALNUM, 24), is_mixed),
    _shape("Atlassian token", "ATATT3", _at_least("[A-Za-z0-9_=-]", 60)),
    _shape("Atlassian token", "ATCTT3", _at_least("[A-Za-z0-9_=-]", 60)),
    _shape("npm token", "npm_", f"{_ALNUM}{{36}}"),
    _shape("npm token", ":_authToken=", f"(?:{_UUID}|{_at_least('[A-Za-z0-9_+/=-]', 20)})", _key_like),
    _shape("RubyGems key", "rubygems_", f"{_HEX}{{48}}"),
    _shape("NuGet key", "oy2", "[a-z0-9]{43}"),
    _shape("crates.io token", "cio", f"{_ALNUM}{{32}}", is_mixed),
    _shape("Docker Hub token", "dckr_pat_", _at_least(_B64URL, 20), _key_like),
    _shape("Docker Hub token", "dckr_oat_", _at_least(_B64URL, 20), _key_like),
    _shape("Artifactory token", "cmVmdGtu", _at_least(_ALNUM, 50)),
    _shape("CircleCI token", "CCIPAT_", _at_least("[A-Za-z0-9_]", 40), _key_like),
    _shape("Buildkite token", "bkua_", f"{_HEX}{{40}}"),
    _shape("SonarQube token", "squ_", f"{_HEX}{{40}}"),
    _shape("SonarQube token", "sqp_", f"{_HEX}{{40}}"),
    _shape("SonarQube token", "sqa_", f"{_HEX}{{40}}"),
    _shape("Sourcegraph token", "sgp_", f"(?:(?:{_HEX}{{16}}|local)_)?{_HEX}{{40}}"),
    _shape("Prefect token", "pnu_", f"{_ALNUM}{{36}}"),
    _shape("Postman key", "PMAK-", f"{_HEX}{{24}}-{_HEX}{{34}}"),
    # Services.
    _shape("Slack token", "xapp-", r"\d-[A-Za-z0-9]{1,40}-\d{1,40}-[A-Za-z0-9]{20,80}"),
    _shape("Slack token", "xoxe-", r"\d-[A-Za-z0-9-]{40,300}"),
    _shape("Slack token", "xoxe.xox", r"[bp]-\d-[A-Za-z0-9-]{40,300}"),
    _shape("Slack token", "xox", r"[abcdoprs]-[A-Za-z0-9-]{20,300}", _key_like),
    # The last part of those made today is longer than what detect-secrets takes for the whole.
    *(
        _shape(
            "Discord bot token", start, rf"{_B64URL}{{21,26}}\.{_B64URL}{{6}}\.{_B64URL}{{28,45}}", is_mixed
        )
        for start in ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT")
    ),
    _shape("Discord webhook", "/api/webhooks/", r"\d{15,22}/[A-Za-z0-9_-]{50,100}"),
    _shape("Teams webhook", ".webhook.office.com/webhookb2/", _UUID),
    _shape("Linear key", "lin_api_", _at_least(_ALNUM, 32)),
    _shape("Linear token", "lin_oauth_", _at_least(_ALNUM, 32)),
    _shape("Notion token", "ntn_", _at_least(_ALNUM, 40)),
    _shape("Notion token", "secret_", f"{_ALNUM}{{43}}", is_mixed),
    _shape("Figma token", "figd_", _at_least(_B64URL, 36), _key_like),
    _shape("Airtable token", "pat", f"{_ALNUM}{{14}}\\.{_HEX}{{64}}"),
    _shape("Stripe key", "sk_live_", _at_least(_ALNUM, 16)),
    _shape("Stripe key", "rk_live_", _at_least(_ALNUM, 16)),
    _shape("Stripe key", "sk_test_", _at_least(_ALNUM, 16)),
    _shape("Stripe key", "rk_test_", _at_least(_ALNUM, 16)),
    _shape("Stripe webhook secret", "whsec_", _at_least("[A-Za-z0-9+/]", 24)),
    _shape("Square token", "sq0atp-", f"{_B64URL}{{22}}"),
    _shape("Square token", "EAAA", f"{_B64URL}{{60}}", is_mixed),
    _shape("Facebook token", "EAA", _at_least(_ALNUM, 100), is_mixed),
    _shape("Shopify token", "shpat_", f"{_HEX}{{32}}"),
    _shape("Shopify token", "shpca_", f"{_HEX}{{32}}"),
    _shape("Shopify token", "shppa_", f"{_HEX}{{32}}"),
    _shape("Shopify secret", "shpss_", f"{_HEX}{{32}}"),
    _shape("PayPal token", "access_token$", f"(?:production|sandbox)\\$[a-z0-9]{{13,20}}\\${_HEX}{{32}}"),
    _shape("Mailgun key", "key-", f"{_HEX}{{32}}"),
    _shape("Brevo key", "xkeysib-", f"{_HEX}{{64}}-{_ALNUM}{{16}}"),
    _shape("Resend key", "re_", f"{_ALNUM}{{8}}_{_ALNUM}{{20,40}}", _key_like),
    _shape("Sentry token", "sntrys_", _at_least("[A-Za-z0-9+/=_]", 40), _key_like),
    _shape("Sentry token", "sntryu_", f"{_HEX}{{64}}"),
    _shape("Grafana token", "glsa_", f"{_ALNUM}{{32}}_[0-9a-fA-F]{{8}}"),
    _shape("Grafana token", "glc_", _at_least("[A-Za-z0-9+/=]", 32)),
    _shape("New Relic key", "NRAK-", "[A-Z0-9]{27}"),
    _shape("Dynatrace token", "dt0c01.", "[A-Z0-9]{24}\\.[A-Z0-9]{64}"),
    _shape("PostHog key", "phx_", _at_least(_ALNUM, 40)),
    _shape("Contentful token", "CFPAT-", _at_least(_B64URL, 40), _key_like),
    _shape("Typeform token", "tfp_", _at_least("[A-Za-z0-9_.-]", 40), _key_like),
    _shape("HubSpot token", "pat-", rf"(?:na|eu|ap)\d-{_UUID}"),
    _shape("Mapbox token", "sk.eyJ", rf"{_B64URL}{{20,200}}\.{_B64URL}{{16,60}}"),
    _shape("LaunchDarkly key", "sdk-", _UUID),
    _shape("Plaid token", "access-", f"(?:sandbox|development|production)-{_UUID}"),
    _shape("AWS MWS token", "amzn.mws.", _UUID),
    _shape("Asana token", "1/", rf"\d{{14,18}}:{_HEX}{{32}}"),
    _shape("ClickUp token", "pk_", r"\d{6,10}_[A-Z0-9]{32}"),
    _shape("Neon key", "napi_", _at_least("[a-z0-9]", 48)),
    _shape("Dropbox token", "sl.", _at_least(_B64URL, 120), _mixed_key),
    _shape("private key in base64", "LS0tLS1CRUdJTi", "[A-Za-z0-9+/]{46}", _private_key_inside),
    # Ours in the place of detect-secrets' quadratic one; the header has to decode to JSON all the same.
    _shape("JSON web token", "eyJ", "[A-Za-z0-9_-]{10,2000}+={0,2}\\.[A-Za-z0-9_-]{4,8000}", _json_header),
)
