package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// The members of an SPDX 2.3 document in JSON that are used here; see
// https://spdx.github.io/spdx-spec/v2.3.
type (
	spdxDocument struct {
		Version       string             `json:"spdxVersion"`
		DataLicense   string             `json:"dataLicense"`
		ID            string             `json:"SPDXID"`
		Name          string             `json:"name"`
		Namespace     string             `json:"documentNamespace"`
		Creation      spdxCreation       `json:"creationInfo"`
		Packages      []spdxPackage      `json:"packages"`
		Relationships []spdxRelationship `json:"relationships"`
		Extracted     []spdxExtracted    `json:"hasExtractedLicensingInfos,omitempty"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID        string    `json:"SPDXID"`
		Name      string    `json:"name"`
		Version   string    `json:"versionInfo"`
		Download  string    `json:"downloadLocation"`
		Home      string    `json:"homepage"`
		Analyzed  bool      `json:"filesAnalyzed"`
		Concluded string    `json:"licenseConcluded"`
		Declared  string    `json:"licenseDeclared"`
		Copyright string    `json:"copyrightText"`
		Refs      []spdxRef `json:"externalRefs,omitempty"`
	}
	spdxRef struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		From string `json:"spdxElementId"`
		Kind string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
	spdxExtracted struct {
		ID   string `json:"licenseId"`
		Text string `json:"extractedText"`
		Name string `json:"name"`
	}
)

// spdx lists the parts of a package, the package itself first. content makes the document's name
// in the world its own: what differs has another.
func (r *release) spdx(name string, all []part, content []byte) ([]byte, error) {
	d := spdxDocument{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name,
		Namespace: fmt.Sprintf("%s/spdx/%s-%x", home, name, sha256.Sum256(content)),
		Creation: spdxCreation{r.made.Format(time.RFC3339),
			[]string{"Organization: The ptywright authors", "Tool: ptywright-release"}},
	}
	var before string
	for i, p := range all {
		id := spdxID(p)
		s := spdxPackage{
			ID: id, Name: p.name, Version: p.version, Download: "NOASSERTION", Home: p.home,
			Concluded: p.licence, Declared: p.licence,
			Copyright: copyrights(p.text),
		}
		if p.purl != "" {
			s.Refs = []spdxRef{{"PACKAGE-MANAGER", "purl", p.purl}}
		}
		d.Packages = append(d.Packages, s)
		switch {
		case i == 0:
			d.Relationships = append(d.Relationships, spdxRelationship{d.ID, "DESCRIBES", id})
		case p.files:
			d.Relationships = append(d.Relationships, spdxRelationship{before, "CONTAINS", id})
		default:
			d.Relationships = append(d.Relationships,
				spdxRelationship{d.Packages[0].ID, "CONTAINS", id})
			before = id
		}
		for ref := range strings.FieldsSeq(p.licence) {
			if strings.HasPrefix(ref, "LicenseRef-") {
				d.Extracted = append(d.Extracted,
					spdxExtracted{ref, p.text, strings.TrimPrefix(ref, "LicenseRef-")})
			}
		}
	}
	body, err := json.MarshalIndent(d, "", "  ")
	return append(body, '\n'), err
}

var notInID = regexp.MustCompile(`[^0-9A-Za-z.-]+`)

// spdxID is a part's name inside of a document.
func spdxID(p part) string { return "SPDXRef-" + notInID.ReplaceAllString(p.name, "-") }

var copyright = regexp.MustCompile(`(?mi)^\W*((?:copyright|fonts are) .*(?:\(c\)|©|\d{4}).*)$`)

// copyrights are the lines of a licence that say whose the work is.
func copyrights(text string) string {
	var lines []string
	for _, m := range copyright.FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.TrimSpace(m[1]))
	}
	if lines == nil {
		return "NOASSERTION"
	}
	return strings.Join(lines, "\n")
}
