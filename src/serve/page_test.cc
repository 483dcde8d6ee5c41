#include "serve/page.h"

#include <gtest/gtest.h>

#include "serve/bundled_page.h"

namespace capstan::serve {
namespace {

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Page, HoldsTheResultInPlaceOfNull) {
  const std::string html = page(R"({"format_version": 1})");
  EXPECT_EQ(count(html, R"(<script type="application/json" id="data">{"format_version": 1}</script>)"), 1U);
  EXPECT_EQ(html.size(), kBundledPage.size() + std::string_view(R"({"format_version": 1})").size() - 4);
}

TEST(Page, ALongResultIsPacked) {
  const std::string result = R"({"title": ")" + std::string(300'000, 'a') + R"("})";
  EXPECT_LT(page(result).size(), kBundledPage.size() + 10'000);
  EXPECT_EQ(count(page(result), R"(<script type="application/json" id="data">"H4sI)"), 1U);
  EXPECT_EQ(count(served_page(result, "null"), R"(id="data">{"title")"), 1U) << "a server need not pack it";
}

TEST(Page, ANameCannotEndTheDataOrStartAScript) {
  const std::string html = page(R"({"title": "</script><script>alert(1)</script><!--"})");
  EXPECT_EQ(count(html, "<script"), count(kBundledPage, "<script"));
  EXPECT_EQ(count(html, "<!--"), count(kBundledPage, "<!--"));
  EXPECT_NE(html.find(R"(\u003c/script>\u003cscript>alert(1)\u003c/script>\u003c!--)"), html.npos);
}

TEST(Page, LoadsNothingFromElsewhere) {
  EXPECT_NE(kBundledPage.find("default-src 'none'"), kBundledPage.npos);
  EXPECT_EQ(count(kBundledPage, "<link"), 0U);
  EXPECT_EQ(count(kBundledPage, " src=\""), 0U);
  EXPECT_EQ(count(kBundledPage, "unsafe-inline"), 0U);
}

TEST(Page, OfAServerHoldsItsDescriptionAndMayConnectToIt) {
  const std::string html = served_page(R"({"title": "</script>"})", R"({"source": "<b>"})");
  EXPECT_EQ(count(html, R"(<script type="application/json" id="data">{"title": "\u003c/script>"}</script>)"), 1U);
  EXPECT_EQ(count(html, R"(<script type="application/json" id="server">{"source": "\u003cb>"}</script>)"), 1U);
  EXPECT_EQ(count(content_policy(html), "default-src 'none'; connect-src 'self'; script-src 'sha256-"), 1U);
  EXPECT_EQ(count(content_policy(page("{}")), "default-src 'none'; script-src 'sha256-"), 1U);
  EXPECT_EQ(count(content_policy(page("{}")), "connect-src"), 0U);
}

}  // namespace
}  // namespace capstan::serve
